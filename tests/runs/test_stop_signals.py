"""One signal asks, the second leaves, and afterwards all is as before."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from fedsemi.errors import Interrupted
from fedsemi.runs.stop_signals import PATIENCE, StopSignals

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)


@pytest.fixture(autouse=True)
def _no_timer() -> object:
    """Keep the timer of pytest-timeout out of the way, and put it back."""
    handler = signal.getsignal(signal.SIGALRM)
    delay, interval = signal.setitimer(signal.ITIMER_REAL, 0)
    yield
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, delay, interval)


@pytest.mark.parametrize("number", SIGNALS[:2])
def test_the_first_signal_only_asks_and_sets_a_limit(number: signal.Signals) -> None:
    with StopSignals() as signals:
        assert not signals.asked
        os.kill(os.getpid(), number)
        assert signals.asked
        left, _ = signal.getitimer(signal.ITIMER_REAL)
        assert PATIENCE - 5 < left <= PATIENCE


def test_the_second_signal_leaves_in_the_middle_of_a_round() -> None:
    with (
        pytest.raises(Interrupted, match=r"FS1002 .*will be repeated"),
        StopSignals(),
    ):
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)


def test_a_round_that_takes_too_long_after_the_signal_is_left() -> None:
    with pytest.raises(Interrupted), StopSignals():
        os.kill(os.getpid(), signal.SIGALRM)


def test_afterwards_signals_go_where_they_went_before() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with StopSignals() as signals:
        os.kill(os.getpid(), signal.SIGTERM)
        assert signals.asked
    assert [signal.getsignal(number) for number in SIGNALS] == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_in_another_thread_nothing_is_listened_to() -> None:
    found: list[bool] = []

    def work() -> None:
        before = signal.getsignal(signal.SIGINT)
        with StopSignals():
            found.append(signal.getsignal(signal.SIGINT) is before)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [True]
