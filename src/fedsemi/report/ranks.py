"""Do two measures put clients in the same order?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

FEWEST = 3
"""Two clients are always in the same order or in the opposite one."""

_DRAWS = 2000


@dataclass(frozen=True)
class Correlation:
    """Spearman's rank correlation of two measures over the same clients."""

    a: str
    b: str
    clients: int
    rho: float | None
    """None where a measure is the same for everybody, or clients are too few."""
    low: float | None
    high: float | None
    """95 % interval: clients drawn with replacement."""
    p: float | None
    """How often shuffled clients agree as much, either way."""


def correlations(measures: dict[str, Values], seed: int = 0) -> list[Correlation]:
    """Compare every two measures; entry k of each belongs to the same client."""
    return [
        _correlation(a, b, measures[a], measures[b], seed)
        for a, b in combinations(measures, 2)
    ]


def spearman(x: Values, y: Values) -> float | None:
    """Return the correlation of the ranks; ties share their mean rank."""
    rx, ry = ranks(x), ranks(y)
    rx, ry = rx - rx.mean(), ry - ry.mean()
    norm = float(np.sqrt((rx @ rx) * (ry @ ry)))
    return float(rx @ ry) / norm if norm > 0 else None


def ranks(x: Values) -> Values:
    """Rank values from 0 up; ties share their mean rank."""
    _, place, count = np.unique(x, return_inverse=True, return_counts=True)
    last = count.cumsum()
    mean: Values = last - (count + 1) / 2
    return mean[place]


def _correlation(a: str, b: str, x: Values, y: Values, seed: int) -> Correlation:
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    rho = spearman(x, y) if len(x) >= FEWEST else None
    if rho is None:
        return Correlation(a, b, len(x), None, None, None, None)
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(_DRAWS):
        some = rng.integers(len(x), size=len(x))
        if (found := spearman(x[some], y[some])) is not None:
            drawn.append(found)
    low, high = np.quantile(drawn, [0.025, 0.975])
    shuffled = [spearman(rng.permutation(x), y) or 0.0 for _ in range(_DRAWS)]
    as_much = sum(abs(other) >= abs(rho) - 1e-12 for other in shuffled)
    p = (as_much + 1) / (_DRAWS + 1)
    return Correlation(a, b, len(x), rho, float(low), float(high), p)
