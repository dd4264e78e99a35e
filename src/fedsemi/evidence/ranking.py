"""Average ranks over seeds, and from which difference on they tell methods apart.

Friedman, JASA 1937; Nemenyi's critical difference as in Demšar, JMLR 7, 2006.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count

import numpy as np
from scipy import stats

_LEVEL = 0.05
_TWO = 2
"""Methods, and seeds, that a test needs."""


@dataclass(frozen=True)
class Ranking:
    """Methods from the best average rank to the worst."""

    names: tuple[str, ...]
    ranks: tuple[float, ...]
    """1 is the best; methods with the same score share the mean of their ranks."""
    seeds: int
    """Those that all methods have."""
    p: float | None
    """Of Friedman's test that all methods are alike; None where there is none."""

    @property
    def reach(self) -> float | None:
        """Least difference of average ranks that Nemenyi's test tells from chance."""
        return critical_difference(len(self.names), self.seeds) if self.tested else None

    @property
    def tested(self) -> bool:
        """Whether there are methods and seeds enough for a test."""
        return len(self.names) >= _TWO and self.seeds >= _TWO

    @property
    def groups(self) -> list[tuple[int, int]]:
        """First and last place of each longest run that is not told apart."""
        reach = self.reach
        if reach is None:
            return []
        found: list[tuple[int, int]] = []
        for first in range(len(self.ranks)):
            near = [
                i
                for i, r in enumerate(self.ranks)
                if i >= first and self._near(first, r)
            ]
            if near[-1] > first and (not found or near[-1] > found[-1][1]):
                found.append((first, near[-1]))
        return found

    def _near(self, first: int, rank: float) -> bool:
        assert self.reach is not None
        return rank - self.ranks[first] < self.reach

    @property
    def sentences(self) -> list[str]:
        """Say what the ranks decide, and what so few seeds could have decided."""
        k = len(self.names)
        if k < _TWO or not self.seeds:
            return ["No two methods share a seed yet, so there are no ranks."]
        if not self.tested:
            return [
                "Ranks are those of the one seed that all share; one decides nothing."
            ]
        assert self.reach is not None
        same = "" if self.p is None else f" (Friedman's test: {_shown(self.p)})"
        lines = [
            f"Ranks over {self.seeds} seeds{same}: average ranks are told apart from a "
            f"difference of {self.reach:.2f} on (Nemenyi, 5 %)."
        ]
        if self.reach > k - 1:
            lines.append(
                f"That is more than ranks of {k} methods can differ: with {self.seeds} "
                f"seeds this test decides nothing, whatever the scores; it may from "
                f"{least_seeds(k)} seeds on."
            )
        pairs = math.comb(k, 2)
        lines.append(
            f"Signed-rank tests of all {pairs} pairs, with Holm's correction, could "
            f"decide one from {least_for_pairs(pairs)} seeds on."
        )
        return lines

    @property
    def apart(self) -> list[tuple[str, str]]:
        """Pairs that are told apart, the better one first."""
        if self.reach is None:
            return []
        both = combinations(zip(self.names, self.ranks, strict=True), 2)
        return [(a, b) for (a, x), (b, y) in both if y - x >= self.reach]


def ranking(scores: Mapping[str, Mapping[int, float]]) -> Ranking:
    """Rank methods by their scores, seed by seed, on the seeds that all have.

    >>> found = ranking({"a": {1: 90, 2: 80}, "b": {1: 85, 2: 82}, "c": {1: 70, 2: 71}})
    >>> found.names, found.ranks
    (('a', 'b', 'c'), (1.5, 1.5, 3.0))
    """
    shared = (
        set.intersection(*(set(each) for each in scores.values())) if scores else ()
    )
    seeds, names = sorted(shared), list(scores)
    if not seeds:
        return Ranking(tuple(names), (), 0, None)
    table = np.array([[scores[name][seed] for name in names] for seed in seeds])
    means = stats.rankdata(-table, axis=1).mean(axis=0)
    order = np.argsort(means, kind="stable")
    return Ranking(
        tuple(names[i] for i in order),
        tuple(float(means[i]) for i in order),
        len(seeds),
        _friedman(table),
    )


def critical_difference(methods: int, seeds: int) -> float:
    """Return q √(k (k + 1) / 6N), q of the studentized range at 5 %.

    >>> round(critical_difference(4, 14), 2)  # q = 2.569
    1.25
    """
    q = float(stats.studentized_range.ppf(1 - _LEVEL, methods, np.inf)) / math.sqrt(2)
    return q * math.sqrt(methods * (methods + 1) / (6 * seeds))


def least_seeds(methods: int) -> int:
    """Return the seeds from which on the best and the worst rank can be told apart."""
    one = critical_difference(methods, 1)
    return math.ceil((one / (methods - 1)) ** 2)


def least_for_pairs(pairs: int) -> int:
    """Return the seeds from which on an exact signed-rank test can pass Holm's first.

    Its least p is 2^(1 − n), which must not exceed 5 % over the number of pairs.

    >>> least_for_pairs(1), least_for_pairs(15)
    (6, 10)
    """
    return next(n for n in count(1) if 2.0 ** (1 - n) <= _LEVEL / pairs)


def _shown(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _friedman(table: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> float | None:
    """Test whether methods are alike; from three on, and unless all scores are ties."""
    seeds, methods = table.shape
    if seeds < _TWO or methods <= _TWO or (table == table[:, :1]).all():
        return None
    columns: Sequence[object] = list(table.T)
    return float(stats.friedmanchisquare(*columns).pvalue)
