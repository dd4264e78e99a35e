"""Means, spreads and paired tests over seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

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
class Paired:
    """Two methods on the same seeds: differences a − b and what they show."""

    n: int
    mean: float
    low: float | None
    high: float | None
    """95 % interval of the mean difference by Student's t."""
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

    @property
    def side(self) -> int:
        """Say on which side of zero the interval lies; 0 if on both, or if none."""
        if self.low is None or self.high is None:
            return 0
        return int(self.low > 0) - int(self.high < 0)

    @property
    def verdict(self) -> str:
        """Say in a word what the interval shows."""
        if self.low is None or self.high is None:
            return "one seed"
        return {1: "ahead", -1: "behind", 0: "undecided"}[self.side]

    def finding(self, worth: float) -> str:
        """Say what the interval decides, if differences below `worth` do not matter."""
        if self.low is None or self.high is None:
            return "one seed only"
        small = -worth <= self.low and self.high <= worth
        if self.low > 0 or self.high < 0:
            side = "above" if self.low > 0 else "below"
            return f"decided, {side} zero{SMALL if small else ''}"
        return NOTHING if small else UNDECIDED


_MOST_SEEDS = 10_000


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


def paired(a: Sequence[float], b: Sequence[float], chances: int = 1) -> Paired:
    """Test whether a and b differ; entry i of both is of the same seed.

    With more chances, as when the largest of several differences is tested, the
    interval is widened by Bonferroni's rule.
    """
    difference = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    n, mean = len(difference), float(difference.mean())
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    decided = wins + losses
    sign = stats.binomtest(wins, decided).pvalue if decided else 1.0
    if n < 2:
        return Paired(n, mean, None, None, None, None, None, wins, losses, None)
    sd = float(difference.std(ddof=1))
    error = sd / math.sqrt(n)
    if error == 0.0:
        # All differences are the same: no spread, so no t.
        same = (n, mean, mean, mean, None, None, None, wins, losses, float(sign), sd)
        return Paired(*same)
    t = mean / error
    reach = float(stats.t.ppf(1 - 0.025 / chances, n - 1)) * error
    signed = stats.wilcoxon(difference, method="exact").pvalue if decided == n else None
    return Paired(
        n,
        mean,
        mean - reach,
        mean + reach,
        t,
        min(1.0, chances * float(2 * stats.t.sf(abs(t), n - 1))),
        None if signed is None else float(signed),
        wins,
        losses,
        float(sign),
        sd,
    )
