"""A file of a site that only grows: each line is on the disk before it counts.

One process at a time writes. Each line holds the hash of the one before, so that one
that was changed or taken out of the middle shows. A kill or a power failure leaves
whole lines and at most a part of the last, which never counted and is cut off.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fedsemi.errors import StorageError
from fedsemi.storage import Sink, cannot_write, sync
from fedsemi.text.json_text import parsed_object

BEFORE = "before"
"""Key of the hash of the line before; of nothing in the first line."""
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
_TAIL = 1 << 16


class Journal:
    """The open file; its lock is held until it is closed."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    def entries(self) -> list[dict[str, Any]]:
        """Read all lines; raise if one is not as it was written."""
        size = os.fstat(self._descriptor).st_size
        *lines, _ = os.pread(self._descriptor, size, 0).split(b"\n")
        found, before = [], _sha256(b"")
        for number, line in enumerate(lines, start=1):
            try:
                entry = parsed_object(line)
                if entry.pop(BEFORE, None) != before:
                    raise ValueError("it does not follow the line before")
            except ValueError as error:
                raise StorageError(
                    f"line {number} of '{self.path}' is damaged ({error}); put a whole "
                    "copy back: nothing is answered without it",
                    code="FS6104",
                ) from None
            found.append(entry)
            before = _sha256(line)
        return found

    def add(self, *entries: Mapping[str, Any]) -> None:
        """Append lines; when this returns they outlast a power failure."""
        before = _sha256(self._last())
        text = b""
        for entry in entries:
            line = json.dumps({**entry, BEFORE: before}).encode()
            text += line + b"\n"
            before = _sha256(line)
        try:
            Sink(self._descriptor).write(text)
            os.fsync(self._descriptor)
        except OSError as error:
            raise cannot_write(self.path, len(text), error) from error

    def _last(self) -> bytes:
        """Return the last whole line, and cut off what a killed writer left."""
        size = os.fstat(self._descriptor).st_size
        start, tail = size, b""
        while start and tail.count(b"\n") < 2:
            step = min(_TAIL, start)
            start -= step
            tail = os.pread(self._descriptor, step, start) + tail
        whole, _, torn = tail.rpartition(b"\n")
        if torn:
            os.ftruncate(self._descriptor, size - len(torn))
        return whole.rpartition(b"\n")[2]


@contextmanager
def opened(path: Path) -> Iterator[Journal]:
    """Open a journal for this process alone; others wait."""
    new = not path.exists()
    try:
        descriptor = os.open(path, _FLAGS, 0o600)
    except OSError as error:
        raise cannot_write(path, 0, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if new:
            sync(path.parent)
        yield Journal(path, descriptor)
    finally:
        os.close(descriptor)


def read(path: Path) -> list[dict[str, Any]]:
    """Read a journal; one that nobody has written to yet is empty."""
    if not os.path.lexists(path):
        return []
    with opened(path) as journal:
        return journal.entries()


def _sha256(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()
