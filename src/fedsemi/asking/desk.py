"""Where a person answers: a label is in the site's table before the next question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from fedsemi.asking.queue import Queue, write_queue
from fedsemi.asking.shelf import Shelf
from fedsemi.errors import DataError


@dataclass(frozen=True)
class _Before:
    """What a row was before an answer."""

    row: int
    label: str | None
    skipped: bool


class Desk:
    """A queue of pictures and the answers so far; several threads may ask it."""

    def __init__(self, shelf: Shelf, queue: Queue) -> None:
        self.shelf = shelf
        self._queue = queue
        self._lock = Lock()
        self._done: list[_Before] = []
        labels = shelf.pictures()[1]
        self._labels = {each.file: labels.get(each.file) for each in queue.asked}
        write_queue(shelf.folder, queue)

    def __len__(self) -> int:
        return len(self._queue.asked)

    def file(self, row: int) -> str:
        """Name the picture of a row.

        Raises:
            DataError: There is no such row.
        """
        if not 0 <= row < len(self):
            raise DataError(
                f"there is no picture {row + 1} in a queue of {len(self)}", "FS6407"
            )
        return self._queue.asked[row].file

    def answer(self, row: int, label: int) -> None:
        """Give a picture a class by its number, at once and for good.

        Raises:
            DataError: There is no such row or class, or the table is damaged.
        """
        if not 0 <= label < len(self.shelf.classes):
            raise DataError(
                f"there is no class {label + 1}; there are {len(self.shelf.classes)}",
                code="FS6400",
            )
        with self._lock:
            before = self._state(row)
            self._set(row, self.shelf.classes[label], skipped=False)
            self._done.append(before)

    def skip(self, row: int) -> None:
        """Leave a picture out, also after a restart; it has no label then."""
        with self._lock:
            before = self._state(row)
            self._set(row, None, skipped=True)
            self._done.append(before)

    def undo(self) -> int | None:
        """Take the last answer of this session back; return its row, or None."""
        with self._lock:
            if not self._done:
                return None
            before = self._done[-1]
            self._set(before.row, before.label, before.skipped)
            self._done.pop()
            return before.row

    def view(self) -> dict[str, Any]:
        """Return what the page shows of every row."""
        with self._lock:
            rows = [
                {
                    "file": each.file,
                    "label": self._labels[each.file],
                    "skipped": each.file in self._queue.skipped,
                    "guess": each.guess,
                    "sure": each.sure,
                }
                for each in self._queue.asked
            ]
        return {"rows": rows, "undo": bool(self._done)}

    @property
    def counts(self) -> tuple[int, int]:
        """How many rows have a label, and how many were skipped."""
        with self._lock:
            labeled = sum(label is not None for label in self._labels.values())
            return labeled, len(self._queue.skipped)

    def _state(self, row: int) -> _Before:
        file = self.file(row)
        return _Before(row, self._labels[file], file in self._queue.skipped)

    def _set(self, row: int, label: str | None, skipped: bool) -> None:
        """Write the table first: what the page shows as labeled is labeled."""
        file = self.file(row)
        if label != self._labels[file]:
            self.shelf.write(file, label)
            self._labels[file] = label
        others = tuple(each for each in self._queue.skipped if each != file)
        if skipped != (file in self._queue.skipped):
            changed = (*others, file) if skipped else others
            self._queue = replace(self._queue, skipped=changed)
            write_queue(self.shelf.folder, self._queue)
