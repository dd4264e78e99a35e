"""A site's vault on its disk: what it masked, signed and opened, before it says so.

One file holds the session that is under way with its secrets, and one for each round
what became of it. A coordinator that restarts, and a site that is killed, find them as
they were.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from fedsemi.privacy.vault import Past, Record
from fedsemi.storage import locked, make_folder, write_whole

_SESSION = "session.json"


class DiskVault:
    """The vault of one stage of one plan."""

    def __init__(self, folder: Path) -> None:
        self._folder = make_folder(folder, private=True)

    def read(self) -> Record | None:
        """Return the record of the latest session."""
        path = self._folder / _SESSION
        # Fails closed: a damaged record is an error, not a site that masked nothing.
        return Record.read(path.read_bytes()) if path.exists() else None

    def write(self, record: Record) -> None:
        """Replace it, and with it all secrets of the session before."""
        write_whole(self._folder / _SESSION, record.written(), private=True)

    def past(self, round: int) -> Past:
        """Return what is known of a round."""
        path = self._past(round)
        return Past.read(path.read_bytes()) if path.exists() else Past()

    def note(self, round: int, past: Past) -> None:
        """Remember it."""
        write_whole(self._past(round), past.written(), private=True)

    def locked(self) -> AbstractContextManager[None]:
        """Let one process at a time answer: each message has one of its own."""
        return locked(self._folder)

    def _past(self, round: int) -> Path:
        return self._folder / f"round-{round:08}.json"
