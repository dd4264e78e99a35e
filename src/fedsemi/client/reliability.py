"""Do probabilities keep their word? Of images called 80 %, are 80 % right?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedsemi.client.resampling import Interval, wilson

BINS = 10
"""Of equal width, as expected calibration errors are usually given."""
_DRAWS = 100
_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Bin:
    """Images whose probability lies in one tenth."""

    num: int
    said: float
    """Their mean probability."""
    was: Interval
    """The part of which it was true."""


@dataclass(frozen=True)
class Reliability:
    """How far probabilities are from what comes true."""

    error: float
    """Expected calibration error: the gap of each bin, weighed by its images."""
    by_chance: float
    """Exceeded by one in twenty models whose probabilities are exactly right."""
    bins: tuple[Bin, ...]
    """Those with images, from low to high."""


def reliability(
    prob: NDArray[Any], true: NDArray[np.bool_], seed: int = 0
) -> Reliability:
    """Compare probabilities `[N]` with what came true `[N]`.

    Few images make a gap in every bin even if all probabilities are right. How large
    an error chance alone makes is found by drawing what comes true by the
    probabilities themselves (Bröcker and Smith, Weather and Forecasting 2007).
    """
    prob = prob.astype(np.float64)
    place = np.minimum((prob * BINS).astype(np.int64), BINS - 1)
    num = np.bincount(place, minlength=BINS)
    said = np.bincount(place, prob, BINS)
    was = np.bincount(place, true, BINS)
    bins = [
        Bin(int(num[b]), float(said[b] / num[b]), wilson(float(was[b]), int(num[b])))
        for b in np.flatnonzero(num)
    ]
    error = float(np.abs(was - said).sum() / len(prob))
    return Reliability(error, _by_chance(prob, place, said, seed), tuple(bins))


def _by_chance(
    prob: NDArray[Any], place: NDArray[np.int64], said: NDArray[Any], seed: int
) -> float:
    rng = np.random.default_rng(seed)
    member = np.eye(BINS, dtype=np.float32)[place]  # [N, BINS]
    size = max(1, _AT_ONCE // len(prob))
    errors = []
    for start in range(0, _DRAWS, size):
        count = min(size, _DRAWS - start)
        came = rng.random((count, len(prob)), dtype=np.float32) < prob
        gaps = came.astype(np.float32) @ member - said
        errors.append(np.abs(gaps).sum(axis=1) / len(prob))
    return float(np.quantile(np.concatenate(errors), 0.95))
