"""The checkpoints of a run: the newest sound one counts, and the one before is kept."""

from __future__ import annotations

from pathlib import Path

from fedsemi.errors import StorageError
from fedsemi.runs.checkpoint import Checkpoint, read_checkpoint
from fedsemi.storage import remove

KEPT = 2


class Generations:
    """The files ckpt-<rounds done>.fsck in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sound: list[int] = []

    def path(self, number: int) -> Path:
        """Name the file of a generation."""
        return self._folder / f"ckpt-{number:06}.fsck"

    def newest(self) -> tuple[Checkpoint | None, list[StorageError]]:
        """Open the newest sound checkpoint, or None if there has never been one.

        Returns:
            The checkpoint, and what was wrong with newer ones.

        Raises:
            StorageError: There are checkpoints, but none is sound. Nothing is deleted.
        """
        problems: list[StorageError] = []
        for number in sorted(self._numbers(), reverse=True):
            try:
                checkpoint = self._opened(number)
            except StorageError as error:
                if error.code == "FS1103":
                    raise
                problems.append(error)
            else:
                self._sound.append(number)
                return checkpoint, problems
        if problems:
            told = "; ".join(problem.args[0] for problem in problems)
            raise StorageError(
                f"no checkpoint can be used: {told}; nothing was deleted, put a copy "
                "back or start a new run",
                code="FS1102",
            )
        return None, []

    def keep(self, number: int) -> None:
        """Note that a generation was written, and drop what is older than the last."""
        self._sound.append(number)
        self._drop_before(self._sound[-KEPT:][0])

    def keep_only_newest(self) -> None:
        """Drop all but the newest: a finished run needs it only to go on for longer."""
        if self._sound:
            self._drop_before(self._sound[-1])

    def clear(self) -> None:
        """Drop all: a new run begins in this folder."""
        for number in self._numbers():
            remove(self.path(number))
        self.remove_partial()

    def remove_partial(self) -> None:
        """Remove what a killed process was writing."""
        for path in self._folder.glob(".*.*.[0-9]*"):
            remove(path)

    def _opened(self, number: int) -> Checkpoint:
        checkpoint = read_checkpoint(self.path(number))
        if checkpoint.cursor.number != number:
            raise StorageError(
                f"'{checkpoint.path}' is a copy of the checkpoint of round "
                f"{checkpoint.cursor.number}",
                code="FS1102",
            )
        return checkpoint

    def _numbers(self) -> list[int]:
        stems = (path.stem for path in self._folder.glob("ckpt-*.fsck"))
        digits = (stem.removeprefix("ckpt-") for stem in stems)
        return [int(text) for text in digits if text.isdigit()]

    def _drop_before(self, number: int) -> None:
        for each in self._numbers():
            if each < number:
                remove(self.path(each))
