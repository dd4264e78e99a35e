"""Which unlabeled pictures of a site a person should look at first.

A rule is a function from what the site knows to an order of rows. It sees what a model
says of pictures, and counts and features of those that have labels: no truth about any
that has none. The first n of a longer order are the order of n, so that asking for more
changes nothing about what was asked before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fedsemi.seeds import seed_of

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

_BLOCK = 1024
"""Rows of which all distances are in memory at a time."""


@dataclass(frozen=True, eq=False)
class Pool:
    """What a site knows of its pictures: first of those without a label."""

    probabilities: Floats
    """[N, C], by the model of a run."""
    features: Floats
    """[N, d], by its encoder."""
    known: Counts
    """[C], how many labels of each class the site has."""
    known_features: Floats
    """[M, d], of the pictures that have these labels."""
    seed: int = 0
    """Of the random order; no other rule draws anything."""

    def __len__(self) -> int:
        return len(self.probabilities)


Rule = Callable[[Pool, int], list[int]]
"""Takes a pool and how many are wanted; gives rows, the first to be asked first."""


def margin(probabilities: Floats) -> Floats:
    """Return by how much the likeliest class leads before the second: 0 is a tie.

    >>> margin(np.array([[0.5, 0.3, 0.2], [0.1, 0.45, 0.45]])).round(2).tolist()
    [0.2, 0.0]
    """
    second, first = np.sort(probabilities, axis=1)[:, -2:].T
    return np.asarray(first - second)


def by_uncertainty(pool: Pool, budget: int) -> list[int]:
    """Ask where the model's two likeliest classes are closest to each other."""
    order = np.argsort(margin(pool.probabilities), kind="stable")
    return [int(row) for row in order[:budget]]


def by_coverage(pool: Pool, budget: int) -> list[int]:
    """Ask for what lies farthest from everything that has a label or is asked for.

    Greedy k-center in feature space. At a site without labels the picture nearest to
    the mean of all comes first.
    """
    features, chosen = pool.features, list[int]()
    if not len(features):
        return chosen
    if len(pool.known_features):
        reach = _nearest(features, pool.known_features)
    else:
        center = features.mean(axis=0, keepdims=True)
        chosen.append(int(_nearest(features, center).argmin()))
        reach = _apart(features, features[chosen[0]])
        reach[chosen] = -1.0  # below its twins, which are at zero
    while len(chosen) < min(budget, len(features)):
        row = int(reach.argmax())
        chosen.append(row)
        reach = np.minimum(reach, _apart(features, features[row]))
        reach[row] = -1.0
    return chosen[:budget]


def by_balance(pool: Pool, budget: int) -> list[int]:
    """Fill up the class of which the fewest labels are known, the least sure first.

    A picture counts for the class that the model takes it for.
    """
    have, taken_for = pool.known.copy(), pool.probabilities.argmax(axis=1)
    order = np.argsort(margin(pool.probabilities), kind="stable")
    # Backwards, because the end of a list is what `pop` takes.
    left = [
        [int(row) for row in order[::-1] if taken_for[row] == label]
        for label in range(len(have))
    ]
    chosen: list[int] = []
    while len(chosen) < min(budget, len(pool)):
        label = min((n for n, rows in enumerate(left) if rows), key=lambda n: have[n])
        chosen.append(left[label].pop())
        have[label] += 1
    return chosen


def at_random(pool: Pool, budget: int) -> list[int]:
    """Ask in an order that knows nothing: what every other rule has to beat."""
    rng = np.random.default_rng(seed_of(pool.seed, "ask"))
    return [int(row) for row in rng.permutation(len(pool))[:budget]]


RANDOM = "random"
COVERAGE = "coverage"
RULES: Mapping[str, Rule] = {
    "uncertainty": by_uncertainty,
    COVERAGE: by_coverage,
    "balance": by_balance,
    RANDOM: at_random,
}
"""By name; the control comes last."""


def _apart(features: Floats, point: Floats) -> Floats:
    """Return the squared distance of each row from a point."""
    return np.asarray(((features - point) ** 2).sum(axis=1))


def _nearest(features: Floats, centers: Floats) -> Floats:
    """Return the squared distance of each row from the nearest of some centers."""
    norms = (centers**2).sum(axis=1)
    found = [np.empty(0)]
    for start in range(0, len(features), _BLOCK):
        rows = features[start : start + _BLOCK]
        squares = (rows**2).sum(axis=1)[:, None] + norms - 2 * rows @ centers.T
        found.append(squares.min(axis=1).clip(0.0))  # rounding may go below zero
    return np.concatenate(found)
