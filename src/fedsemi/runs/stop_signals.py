"""SIGINT and SIGTERM: finish the round, save, leave; the second leaves at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

from fedsemi.errors import Interrupted

PATIENCE = 25.0
"""Seconds that a round may still take after the first signal."""

_Handler = Callable[[int, FrameType | None], Any] | int | None


class StopSignals:
    """Listens while a run is on; `asked` tells that it should end."""

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[signal.Signals, _Handler] = {}

    def __enter__(self) -> Self:
        # Python lets only the main thread listen to signals.
        if threading.current_thread() is threading.main_thread():
            handlers: dict[signal.Signals, _Handler] = {
                signal.SIGINT: self._ask,
                signal.SIGTERM: self._ask,
                signal.SIGALRM: self._leave,
            }
            for number, handler in handlers.items():
                self._before[number] = signal.signal(number, handler)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            self._leave(number, frame)
        self.asked = True
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)

    def _leave(self, number: int, frame: FrameType | None) -> None:
        raise Interrupted("stopped in the middle of a round, which will be repeated")
