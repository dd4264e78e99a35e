"""metrics.jsonl: a line a round, with a running hash, cut back when a run resumes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fedsemi.errors import StorageError
from fedsemi.runs.reading import record_of
from fedsemi.runs.records import RoundRecord
from fedsemi.storage import append, cut, sync
from fedsemi.text.json_text import parsed_object

_UNHASHED = ("seconds", "rounds", "guard")
"""A round's time, how long the run is meant to go on, and what the config says."""


class MetricsLog:
    """Appends records and knows the hash of what it has written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self.records: list[RoundRecord] = []
        """What a summary needs of each record; the rest is only in the file."""
        self._sha = hashlib.sha256()
        self._timeless = hashlib.sha256()

    @classmethod
    def new(cls, path: Path) -> MetricsLog:
        """Begin an empty log."""
        log = cls(path)
        log.cut()
        return log

    @classmethod
    def continued(cls, path: Path, size: int, sha256: str) -> MetricsLog:
        """Take a log up where a checkpoint left it; later lines are cut off."""
        log = cls(path)
        content = path.read_bytes()[:size] if path.exists() else b""
        for line in content.splitlines(keepends=True):
            log._count(line)
        if log.size != size or log.sha256 != sha256:
            raise StorageError(
                f"'{path}' is not the log that the checkpoint belongs to, it was "
                "changed or cut; put it back, or start a new run with --fork",
                code="FS1108",
            )
        log.cut()
        return log

    @property
    def sha256(self) -> str:
        """Hash of the file's bytes."""
        return self._sha.hexdigest()

    @property
    def digest(self) -> str:
        """Hash of the content without times: equal runs have equal ones."""
        return self._timeless.hexdigest()

    def append(self, record: RoundRecord) -> None:
        """Add a line."""
        line = (json.dumps(record.as_json()) + "\n").encode()
        append(self.path, line)
        self._count(line)

    def sync(self) -> None:
        """Make what was written last through a power failure."""
        sync(self.path)

    def cut(self) -> None:
        """Drop everything behind what this log knows of."""
        cut(self.path, self.size)

    def _count(self, line: bytes) -> None:
        self.size += len(line)
        self._sha.update(line)
        try:
            content = parsed_object(line)
            record = record_of(content)
        except ValueError:
            return  # the hash will not match either
        self.records.append(replace(record, clients={}, notices=(), dropped=()))
        self._timeless.update(timeless(content))


def timeless(content: Mapping[str, Any]) -> bytes:
    """Write a record canonically, without how long it took and is meant to go on.

    What the guard left is in the words of a notice, too. As a number it was not written
    at first, and runs from then shall come out the same.
    """
    kept = {k: v for k, v in content.items() if k not in _UNHASHED}
    if "notices" in kept:
        kept["notices"] = [_without_part(notice) for notice in kept["notices"]]
    return json.dumps(kept, sort_keys=True).encode()


def _without_part(notice: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in notice.items() if name != "part"}
