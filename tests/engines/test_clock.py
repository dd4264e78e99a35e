"""Processor time is counted wherever it was spent."""

from __future__ import annotations

import time

from fedsemi.engines.clock import Stopwatch, count, cpu_seconds


def spend(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_what_this_process_and_its_workers_spend_is_counted() -> None:
    before = cpu_seconds()
    spend(0.05)
    count(7.0)
    assert 7.05 <= cpu_seconds() - before < 8


def test_a_stopwatch_tells_the_time_since_it_was_last_asked() -> None:
    watch = Stopwatch()
    assert watch.lap() > 0  # since the process began
    spend(0.05)
    assert 0.05 <= watch.lap() < 0.5
    assert watch.lap() < 0.05
