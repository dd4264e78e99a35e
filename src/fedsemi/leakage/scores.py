"""How well an attacker guessed: pure functions, each with what a guesser would get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

Table = npt.NDArray[np.float64]
Rows = npt.NDArray[Any]
"""Floats of either precision: models come in single, statistics in double."""
Flags = npt.NDArray[np.bool_]

FEWEST_NEGATIVES = 500
"""Below it, a rate at 1 % false alarms would hang on less than five of them."""


def auc(inside: Table, outside: Table) -> float:
    """Return how often one from inside scores higher; ties count half.

    >>> auc(np.array([3.0, 2.0]), np.array([1.0, 2.0]))
    0.875
    """
    better, pairs = _won(inside, outside)
    return better / pairs


def owner_auc(score: Table, owns: Flags) -> float | None:
    """Return how often an owner of a class scores higher there than a non-owner.

    Only sites are compared, never classes: who knows nothing but which classes are
    frequent gets 0.5. None if all own, or none owns, every class.

    Args:
        score: [sites, classes].
        owns: [sites, classes].
    """
    won, pairs = 0.0, 0
    for column, owner in zip(score.T, owns.T, strict=True):
        some = _won(column[owner], column[~owner])
        won, pairs = won + some[0], pairs + some[1]
    return won / pairs if pairs else None


def _won(inside: Table, outside: Table) -> tuple[float, int]:
    """Count the pairs that the inside wins, and all pairs (Mann and Whitney)."""
    pairs = len(inside) * len(outside)
    if not pairs:
        return 0.0, 0
    ranks = stats.rankdata(np.concatenate([inside, outside]))[: len(inside)]
    return float(ranks.sum() - len(inside) * (len(inside) + 1) / 2), pairs


def caught(inside: Table, outside: Table, alarms: float = 0.01) -> float | None:
    """Return the share of the inside that is found at a rate of false alarms.

    The threshold is the lowest one that lets at most that share of the outside pass.
    None if the outside is too small to measure such a rate.
    """
    if len(outside) < FEWEST_NEGATIVES:
        return None
    allowed = int(alarms * len(outside))
    threshold = np.sort(outside)[len(outside) - allowed - 1]
    return float((inside > threshold).mean())


def total_variation(guess: Table, truth: Table) -> float:
    """Return half the summed difference of shares, mean over sites; 0 is exact."""
    return float(np.abs(guess - truth).sum(1).mean() / 2)


def constant_guess(shares: Table) -> Table:
    """Return the one guess with the least mean total variation from these sites.

    Where the sum over classes must be one, the best constant is the same quantile of
    every class (the median, moved until it sums to one).
    """
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if np.quantile(shares, middle, axis=0).sum() < 1:
            low = middle
        else:
            high = middle
    best: Table = on_simplex(np.quantile(shares, high, axis=0)[None])[0]
    return best


def on_simplex(guess: Table) -> Table:
    """Make rows shares: nothing below zero, sums of one; nothing known is uniform."""
    positive = guess.clip(0)
    sums = positive.sum(1, keepdims=True)
    uniform = np.full_like(positive, 1 / guess.shape[1])
    result: Table = np.divide(positive, sums, out=uniform, where=sums > 0)
    return result


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with its 95 % interval by Student's t."""

    seeds: int
    mean: float
    low: float | None
    high: float | None
    """None for a single seed."""


def estimate(values: Sequence[float]) -> Estimate:
    """Average over seeds; all scores lie between zero and one, and so do the ends."""
    mean, reach = mean_and_reach(values)
    if reach is None:
        return Estimate(1, mean, None, None)
    low, high = max(mean - reach, 0.0), min(mean + reach, 1.0)
    return Estimate(len(values), mean, low, high)


def mean_and_reach(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean and half of its 95 % interval, None for a single value."""
    count, mean = len(values), float(np.mean(values))
    if count < 2:
        return mean, None
    error = float(np.std(values, ddof=1)) / count**0.5
    return mean, float(stats.t.ppf(0.975, count - 1)) * error
