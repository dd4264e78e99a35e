"""How long a run will still take."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fedsemi.messages import ClientInfo

_INFERENCE = 0.27
"""Time of a forward pass in test mode; that of learning from one view is one."""
_STEP = 150e6
"""A step costs, whatever its batch, as much time as learning from a view costs a
network of so many multiplications: about 10 ms, fitted to three recorded runs."""
_RECENT = 20


@dataclass(frozen=True)
class Load:
    """What decides how long a round takes, beside its clients."""

    epochs: int = 1
    batch_size: int = 64
    multiply_adds: float = math.inf
    """Of the network on one image; infinite if steps cost nothing but their views."""
    num_tested: float = 0
    """Images tested after a round, on average."""
    workers: int = 1


def work_of_round(
    clients: Sequence[ClientInfo], load: Load, *, supervised: bool
) -> float:
    """Guess the time of a round, in times of learning from one view.

    A labeled sample is learned from in two views, an unlabeled one in one view after
    the teacher has seen it. Each step has a cost of its own, which outweighs the views
    where networks and images are small; so has a visit to a client. A client cannot be
    shared by workers, so that a round takes at least as long as its largest client.
    The server tests on the workers' cores.

    >>> sites = [ClientInfo(0, 100, 0), ClientInfo(1, 0, 50), ClientInfo(2, 0, 50)]
    >>> work_of_round(sites, Load(workers=2), supervised=True)
    200.0
    """
    step = _STEP / load.multiply_adds
    asked = [client for client in clients if client.num_labeled or not supervised]
    costs = [_work_of_visit(client, load, step, supervised) for client in asked]
    learning = max(max(costs, default=0.0), sum(costs) / load.workers)
    return learning + _INFERENCE * load.num_tested / load.workers


def _work_of_visit(
    client: ClientInfo, load: Load, step: float, supervised: bool
) -> float:
    labeled, unlabeled = client.num_labeled, client.num_unlabeled
    if supervised:
        unlabeled = 0
    views = 2 * labeled + (1 + _INFERENCE) * unlabeled
    steps = math.ceil(max(labeled, unlabeled) / load.batch_size)
    return load.epochs * (views + steps * step) + step


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
        another, of this stage or the one before. Stages to come are guessed by their
        work.
        """
        known = stage
        if len(self._taken[stage]) == 1 and len(self._taken.get(stage - 1, ())) > 1:
            known = stage - 1
        here = (self._rounds[stage] - round) * self._work[stage]
        later = zip(self._rounds[stage + 1 :], self._work[stage + 1 :], strict=True)
        rest = here + sum(rounds * work for rounds, work in later)
        return self._typical(known) * rest / (self._work[known] or 1.0)

    def _typical(self, stage: int) -> float:
        """Return the seconds of a round.

        A mean, not a median: rounds with a test take longer than others, and the rest
        has both.
        """
        taken = self._taken[stage]
        recent = taken[1:][-_RECENT:] or taken
        return sum(recent) / len(recent)
