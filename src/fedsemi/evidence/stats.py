"""Means, spreads and paired tests over seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from statistics import median

import numpy as np
from scipy import stats

NOTHING, SMALL = "no effect worth having", " but too small to matter"
UNDECIDED = "undecided"


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation over seeds."""

    n: int
    mean: float
    sd: float | None
    """None for a single seed."""


@dataclass(frozen=True)
class Interval:
    """A mean difference with its 95 % interval by Student's t; one seed has none."""

    mean: float
    low: float | None
    high: float | None

    @property
    def side(self) -> int:
        """Say on which side of zero the interval lies; 0 if on both."""
        if self.low is None or self.high is None:
            return 0
        return int(self.low > 0) - int(self.high < 0)

    @property
    def clear(self) -> float:
        """How far the nearer end is from zero; below zero if zero is inside."""
        if self.low is None or self.high is None:
            return -math.inf
        return max(self.low, -self.high)

    def within(self, worth: float) -> bool:
        """Say whether the interval has nothing in it that matters."""
        if self.low is None or self.high is None:
            return False
        return -worth <= self.low <= self.high <= worth


@dataclass(frozen=True)
class Paired(Interval):
    """Two methods on the same seeds: differences a − b and what they show."""

    n: int
    t: float | None
    p_t: float | None
    p_wilcoxon: float | None
    """Exact signed-rank test; it cannot fall below 2^(1 − n)."""
    wins: int
    losses: int
    p_sign: float | None
    """Exact sign test, two-sided; ties are left out."""
    sd: float | None = None
    """Of the differences; None for a single seed."""
    each: Mapping[int, float] = field(default_factory=dict)
    """The differences by the numbers of their seeds."""
    chances: int = 1
    """For how many chances the interval is widened."""

    @property
    def median(self) -> float:
        """The middle difference, which no single seed can move far."""
        return median(self.each.values())

    def without(self, seed: int) -> Interval:
        """Return mean and interval of all seeds but one."""
        rest = [value for number, value in self.each.items() if number != seed]
        return _interval(np.array(rest), self.chances)

    def turned_without(self, worth: float) -> tuple[int, ...]:
        """Number the seeds that alone turn the interval, the most influential first.

        Without such a seed an open difference is decided, or a decided one lies on the
        other side of zero. That a decided one would be open is not counted: a seed less
        is less power, and with few seeds that is nothing to wonder at. Nor is a side of
        zero where nothing that matters is in reach, with the seed or without.
        """
        small, here = self.within(worth), (0, self.side)
        rest = {seed: self.without(seed) for seed in self.each}
        turned = [
            seed
            for seed, left in rest.items()
            if left.side not in here and not (small and left.within(worth))
        ]
        return tuple(sorted(turned, key=lambda seed: -rest[seed].clear))

    @property
    def verdict(self) -> str:
        """Say in a word what the interval shows."""
        if self.low is None or self.high is None:
            return "one seed"
        return {1: "ahead", -1: "behind"}.get(self.side, "undecided")

    def finding(self, worth: float) -> str:
        """Say what the interval decides, if differences below `worth` do not matter."""
        if self.low is None or self.high is None:
            return "one seed only"
        small = self.within(worth)
        if self.side:
            side = "above" if self.side > 0 else "below"
            return f"decided, {side} zero{SMALL if small else ''}"
        return NOTHING if small else UNDECIDED


_MOST_SEEDS = 10_000
_TWO = 2
"""Seeds that an interval takes."""


@cache
def seeds_for(sd: float, reach: float, power: float = 0.0) -> int | None:
    """Say how many seeds bring the 95 % interval to ±reach; None if too many.

    With `power` the interval lies within ±reach of zero that often, if nothing is
    there: its middle strays as well, so that takes about twice as many.

    >>> seeds_for(1.6, 0.5), seeds_for(1.6, 0.5, 0.8)
    (42, 110)
    """
    strays = float(stats.norm.ppf((1 + power) / 2))

    def wide(n: int) -> bool:
        reached = float(stats.t.ppf(0.975, n - 1)) + strays
        return reached * sd / math.sqrt(n) > reach

    # The interval shrinks with every seed, so that halving finds the first that does.
    low, high = 2, _MOST_SEEDS
    if wide(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if wide(middle) else (low, middle)
    return low


def holm(p_values: Sequence[float], level: float) -> list[bool]:
    """Say which of several tests reject if the chance of any false one is `level`.

    >>> holm([0.04, 0.001, 0.02], 0.05)  # against 0.05 / 3, / 2 and / 1
    [True, True, True]
    >>> holm([0.04, 0.001, 0.03], 0.05)
    [False, True, False]
    """
    kept = [False] * len(p_values)
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for left, i in zip(range(len(order), 0, -1), order, strict=True):
        if p_values[i] > level / left:
            break
        kept[i] = True
    return kept


def spread(values: Sequence[float]) -> Spread:
    """Return mean and sample standard deviation."""
    mean = sum(values) / len(values)
    if len(values) < 2:
        return Spread(len(values), mean, None)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return Spread(len(values), mean, math.sqrt(variance))


def reach_of(found: Spread) -> float | None:
    """Return half of the 95 % interval of a mean, by Student's t.

    >>> round(reach_of(Spread(3, 80.0, 1.0)), 2)
    2.48
    """
    if found.sd is None:
        return None
    return float(stats.t.ppf(0.975, found.n - 1)) * found.sd / math.sqrt(found.n)


def gap_closed(value: float, lower: float, upper: float) -> float | None:
    """Return which share of the way from lower to upper bound a method goes."""
    return None if upper <= lower else (value - lower) / (upper - lower)


def paired(
    a: Sequence[float],
    b: Sequence[float],
    chances: int = 1,
    seeds: Sequence[int] = (),
) -> Paired:
    """Test whether a and b differ; entry i of both is of the same seed.

    Args:
        a: Scores.
        b: The scores that are taken away.
        chances: With more than one, as when the largest of several differences is
            tested, the interval is widened by Bonferroni's rule.
        seeds: The numbers of the seeds; from 1 on if nobody says.
    """
    difference = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    n, found = len(difference), _interval(difference, chances)
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    decided = wins + losses
    each = dict(zip(seeds or range(1, n + 1), difference.tolist(), strict=True))
    t = p_t = p_wilcoxon = p_sign = sd = None
    if n > 1:
        p_sign = stats.binomtest(wins, decided).pvalue if decided else 1.0
        sd = float(difference.std(ddof=1))
    if sd:  # equal differences have no spread, so no t
        t = found.mean / (sd / math.sqrt(n))
        p_t = min(1.0, chances * float(2 * stats.t.sf(abs(t), n - 1)))
        if decided == n:
            p_wilcoxon = float(stats.wilcoxon(difference, method="exact").pvalue)
    return Paired(
        mean=found.mean,
        low=found.low,
        high=found.high,
        n=n,
        t=t,
        p_t=p_t,
        p_wilcoxon=p_wilcoxon,
        wins=wins,
        losses=losses,
        p_sign=None if p_sign is None else float(p_sign),
        sd=sd,
        each=each,
        chances=chances,
    )


def _interval(difference: np.ndarray, chances: int) -> Interval:
    """Take mean and interval; all differences may be the same, and then so are ends."""
    n, mean = len(difference), float(difference.mean())
    if n < _TWO:
        return Interval(mean, None, None)
    error = float(difference.std(ddof=1)) / math.sqrt(n)
    reach = _reach(n, chances) * error
    return Interval(mean, mean - reach, mean + reach)


@cache
def _reach(n: int, chances: int) -> float:
    """Return the half of an interval in standard errors."""
    return float(stats.t.ppf(1 - 0.025 / chances, n - 1))
