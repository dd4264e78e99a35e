"""One class against the rest by its probability: area, and sensitivity at a price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

SPECIFICITIES = (0.9, 0.95)
"""At which a sensitivity is told: of the others, this part is left alone."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Operating:
    """What a threshold on the probability of a class finds, and at what price."""

    wanted: float
    """Specificity that was asked for."""
    threshold: float
    """Call it the class from this probability on; above one if none is specific."""
    sensitivity: float
    specificity: float
    """What is reached, at least what was asked for: images come one at a time."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Images by their probability of a class, told by those that are of it.

    Only there does a threshold begin to find more, so whatever lies between two of
    them is summed up: draws of many images of few of a class stay cheap.
    """

    corners: NDArray[Any]
    """Probabilities that images of the class have, the highest first, `[K]`."""
    _sums: Any
    """Of weights `[N]`: of the class at a corner `[K]`, others strictly before it and
    after all `[K + 1]`, others at it `[K]`."""

    @classmethod
    def of(cls, score: NDArray[Any], positive: NDArray[np.bool_]) -> Ranking:
        """Sort images by their probability of a class, `[N]`."""
        corners = np.unique(score[positive])
        count = len(corners)
        above = count - np.searchsorted(corners, score, side="right")
        at = above < count
        at[at] = corners[count - 1 - above[at]] == score[at]
        row = np.where(at, count + count + 1 + above, count + above)
        row[positive] = above[positive]
        ones = np.ones(len(score), dtype=np.float32)
        shape = (3 * count + 1, len(score))
        return cls(corners[::-1], csr_array((ones, (row, np.arange(len(row)))), shape))

    def curve(self, weights: NDArray[Any]) -> Curve:
        """Count what lies at or above each corner in some draws, `[N, D]`."""
        count, sums = len(self.corners), (self._sums @ weights).astype(np.float64)
        own, before, tied = sums[:count], sums[count : 2 * count + 1], sums[-count:]
        alarms = np.cumsum(before[:-1] + tied, axis=0)
        return Curve(own, alarms, tied, before.sum(axis=0) + tied.sum(axis=0))

    def operating(self, wanted: float) -> Operating:
        """Choose the threshold that finds most at a specificity, or a better one."""
        curve = self.curve(np.ones((self._sums.shape[1], 1), dtype=np.float32))
        place = int(curve.last_below(wanted)[0])
        if place < 0:
            above = float(np.nextafter(self.corners[0], np.inf))
            return Operating(wanted, above, 0.0, 1.0)
        reached = 1 - float(curve.alarms[place, 0] / curve.others[0])
        found = float(curve.sensitivity(wanted)[0])
        return Operating(wanted, float(self.corners[place]), found, reached)


@dataclass(frozen=True, eq=False)
class Curve:
    """True and false alarms at each corner, for every draw."""

    own: NDArray[Any]
    """Images of the class at a corner, `[K, D]`."""
    alarms: NDArray[Any]
    """Others at it or above, `[K, D]`."""
    tied: NDArray[Any]
    """Others at it, `[K, D]`."""
    others: NDArray[Any]
    """All others, `[D]`."""

    def area(self) -> NDArray[Any]:
        """Return the area under the ROC curve of each draw, `[D]`; ties count half."""
        below = self.others - self.alarms + self.tied / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            pairs = self.own.sum(axis=0) * self.others
            return np.asarray((self.own * below).sum(axis=0) / pairs)

    def last_below(self, specificity: float) -> NDArray[np.int64]:
        """Return the place of the lowest corner that is specific enough, or -1."""
        allowed = (1 - specificity + _ROUNDING) * self.others
        return np.asarray((self.alarms <= allowed).sum(axis=0) - 1)

    def sensitivity(self, specificity: float) -> NDArray[Any]:
        """Return what each draw finds of the class at a specificity, `[D]`."""
        place = self.last_below(specificity)
        found = np.cumsum(self.own, axis=0)
        some = np.take_along_axis(found, np.maximum(place, 0)[None], axis=0)[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(place < 0, 0.0, some / found[-1])
