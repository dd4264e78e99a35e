"""Draw test images again and again: how much a score owes to which ones there were.

Each draw is a weight for every image. Images are drawn with replacement within their
class, so that a rare class is in every draw as often as in the truth; images of one
patient are drawn together, for they are no independent witnesses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Weights = NDArray[np.float32]

MOST_DRAWS = 1000
_FEWEST_DRAWS = 200
"""Enough for a 95 % interval whose ends are themselves uncertain by a tenth of it."""
_WORK = 200_000_000
"""Weights that all classes together look at: about two seconds of one core."""
_AT_ONCE = 4_000_000
"""Weights held at the same time, which bounds the memory."""
_TAIL = 0.025


@dataclass(frozen=True)
class Interval:
    """A number, and where it would be in 95 of 100 tests on as many images."""

    value: float
    low: float
    high: float


def draws_for(num: int, num_classes: int) -> int:
    """Say how often to draw: less often where every draw is much work.

    >>> draws_for(2000, 7), draws_for(10_000, 100)
    (1000, 200)
    """
    return max(_FEWEST_DRAWS, min(MOST_DRAWS, _WORK // max(1, num * num_classes)))


class Resamples:
    """Weights of images, draw by draw."""

    def __init__(
        self,
        labels: Integers,
        num_draws: int,
        groups: Integers | None = None,
        seed: int = 0,
    ) -> None:
        """Prepare draws.

        Args:
            labels: The true class of each image, `[N]`.
            num_draws: How many.
            groups: The patient of each image, `[N]`, where several are of one.
            seed: Of the draws.
        """
        self.num_draws = num_draws
        self.rng = np.random.default_rng(seed)
        rows = np.arange(len(labels)) if groups is None else groups
        _, first, self._unit = np.unique(rows, return_index=True, return_inverse=True)
        # A patient with several classes is drawn among those of the first of them.
        strata = labels[first]
        self._strata = [np.flatnonzero(strata == each) for each in np.unique(strata)]

    def chunks(self) -> Iterator[Weights]:
        """Yield the weights of some draws at a time, `[N, D]`."""
        size = max(1, _AT_ONCE // len(self._unit))
        for start in range(0, self.num_draws, size):
            yield self._drawn(min(size, self.num_draws - start))

    def units_of(self, rows: NDArray[np.bool_]) -> int:
        """Count the images, or patients, among some rows."""
        return len(np.unique(self._unit[rows]))

    def _drawn(self, count: int) -> Weights:
        weights = np.zeros((sum(map(len, self._strata)), count), dtype=np.float32)
        for members in self._strata:
            size = len(members)
            taken = self.rng.integers(size, size=(size, count))
            taken = taken * count + np.arange(count)
            counts = np.bincount(taken.ravel(), minlength=size * count)
            weights[members] = counts.reshape(size, count)
        return weights[self._unit]


def interval(value: float, drawn: NDArray[Any], units: int, seed: int = 0) -> Interval:
    """Say where 95 % of what was drawn lies.

    Where all is right, or all wrong, every draw says the same, as if there were no
    doubt. Then the exact bound of that many images takes their place.

    Args:
        value: What was measured.
        drawn: The same of every draw; NaN where it was undefined.
        units: Images or patients that it rests on, the scarcer kind of two.
        seed: Of what takes the draws' place.
    """
    return between(value, without_certainty(value, drawn, units, seed))


def between(value: float, drawn: NDArray[Any]) -> Interval:
    """Cut 2.5 % off at both ends, but never beyond what was measured."""
    low, high = np.nanquantile(drawn, [_TAIL, 1 - _TAIL])
    return Interval(value, min(float(low), value), max(float(high), value))


def without_certainty(
    value: float, drawn: NDArray[Any], units: int, seed: int = 0
) -> Floats:
    """Return draws of a share that leave doubt where it is zero or one.

    The 2.5 % quantile of what is drawn instead is the bound of Clopper and Pearson:
    after ten right of ten, 69 %.
    """
    if 0 < value < 1:
        return drawn.astype(np.float64)
    uniform = np.random.default_rng(seed).random(len(drawn))
    near = uniform ** (1 / max(1, units))
    return near if value else 1 - near


def wilson(hits: float, num: float) -> Interval:
    """Return a share with the 95 % interval of Wilson (1927).

    >>> nine = wilson(9, 10)
    >>> round(nine.low, 3), round(nine.high, 3)
    (0.596, 0.982)
    """
    z = 1.959964
    share, weight = hits / num, 1 / (1 + z * z / num)
    middle = weight * (share + z * z / (2 * num))
    reach = weight * z * (share * (1 - share) / num + z * z / (4 * num * num)) ** 0.5
    return Interval(share, max(0.0, middle - reach), min(1.0, middle + reach))
