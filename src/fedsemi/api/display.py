"""What a Python program shows of a run: on a terminal, in a notebook, in a log."""

from __future__ import annotations

import importlib
from typing import Any

from fedsemi.runs.records import RoundRecord
from fedsemi.text.printable import printable
from fedsemi.text.screen import Screen
from fedsemi.use.progress import Progress, bar

_LINES = 20
"""The most lines that a run leaves in a log."""


def screen(progress: bool) -> Screen:
    """Return where a run is shown; nowhere if nobody asked."""
    return Screen(quiet=not progress)


def display_for(console: Screen) -> type[Progress]:
    """Choose how: a live table, a line that is rewritten, or a few plain lines."""
    if console.quiet or console.is_terminal:
        return Progress
    return NotebookProgress if console.is_jupyter else SparseProgress


class SparseProgress(Progress):
    """Prints a line whenever another twentieth of the run is done."""

    _shown = 0

    def _show(self, record: RoundRecord) -> None:
        done, total = self.rounds_done(record), self.num_rounds
        if done * _LINES // total > self._shown or done == total:
            self._shown = done * _LINES // total
            super()._show(record)


class NotebookProgress(Progress):
    """Rewrites one line below the cell of a notebook."""

    _handle: Any = None

    def _show(self, record: RoundRecord) -> None:
        done, total = self.rounds_done(record), self.num_rounds
        text = f"{bar(done / total, 20):<20} {self._line(record)}"
        bundle = {"text/plain": printable(text)}
        if self._handle is None:
            # There is a notebook, so there is IPython; it is no dependency.
            shown: Any = importlib.import_module("IPython.display")
            self._handle = shown.display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)
