"""How long a run will still take."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from fedsemi.messages import ClientInfo

_INFERENCE = 0.27
"""Time of a forward pass in test mode; that of learning from one view is one."""
_RECENT = 20


def work_of_round(
    clients: Sequence[ClientInfo],
    *,
    supervised: bool,
    epochs: int,
    num_tested: float,
    workers: int,
) -> float:
    """Guess the time of a round, in times of learning from one view.

    A labeled sample is learned from in two views, an unlabeled one in one view after
    the teacher has seen it. A client cannot be shared by workers, so that a round
    takes at least as long as its largest client. The server tests on its own.

    >>> sites = [ClientInfo(0, 100, 0), ClientInfo(1, 0, 50), ClientInfo(2, 0, 50)]
    >>> work_of_round(sites, supervised=True, epochs=1, num_tested=0, workers=2)
    200.0
    """
    unlabeled = 0 if supervised else 1 + _INFERENCE
    costs = [2 * c.num_labeled + unlabeled * c.num_unlabeled for c in clients]
    learning = max(max(costs, default=0), sum(costs) / workers)
    return float(epochs * learning + _INFERENCE * num_tested)


class TimeLeft:
    """Learns from the rounds so far; `work` says how they compare between stages."""

    def __init__(
        self,
        rounds: Sequence[int],
        work: Sequence[float],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._rounds = rounds
        self._work = work
        self._clock = clock
        self._last = clock()
        self._taken: dict[int, list[float]] = {}

    def tick(self, stage: int, learning: float) -> None:
        """Note that a round of a stage has just ended, its test included.

        Before the first round of a stage, workers start; hence only the seconds that
        its clients took are noted.
        """
        now = self._clock()
        taken = self._taken.setdefault(stage, [])
        taken.append(now - self._last if taken else learning)
        self._last = now

    def seconds(self, stage: int, round: int) -> float:
        """Estimate the rest after a round of a stage; rounds count from one.

        The first round of a stage prepares clients and is left out as soon as there is
        another. Stages to come are guessed by their work, which holds where networks
        and images are large; on 8x8 pixels they take up to twice as long. A mean, not
        a median: rounds with a test take longer than others, and the rest has both.
        """
        taken = self._taken[stage]
        recent = taken[1:][-_RECENT:] or taken
        typical = sum(recent) / len(recent)
        here = self._rounds[stage] - round
        later = zip(self._rounds[stage + 1 :], self._work[stage + 1 :], strict=True)
        scale = 1 / self._work[stage] if self._work[stage] else 0.0
        return typical * (here + sum(n * work * scale for n, work in later))
