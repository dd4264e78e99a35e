"""Processor time of this process and of those that worked for it.

Workers are children of a fork server, so that the system counts them for nobody here:
they say themselves how long they were at it.
"""

from __future__ import annotations

import os
import time

_by_workers = 0.0


class Stopwatch:
    """Tells a worker's processor time since it was last asked."""

    def __init__(self) -> None:
        self._last = 0.0

    def lap(self) -> float:
        """Return the seconds since the last call, at first since the process began."""
        now = time.process_time()
        seconds, self._last = now - self._last, now
        return seconds


def count(seconds: float) -> None:
    """Count what a worker spent."""
    global _by_workers  # As the system's own counts, one for the whole process.
    _by_workers += seconds


def cpu_seconds() -> float:
    """Return what this process, its children and its workers have spent so far."""
    ended = os.times()
    children = ended.children_user + ended.children_system
    return time.process_time() + children + _by_workers
