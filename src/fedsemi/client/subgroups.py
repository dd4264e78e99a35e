"""A test by sex, age or whatever a table says of its images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedsemi.client.resampling import Integers
from fedsemi.client.scorecard import Scores, scores_of

FEWEST = 10
"""Images of a subgroup of which anything is told: fewer say little of a model, and
much of single persons."""
UNKNOWN = "unknown"
MOST_SUBGROUPS = 20
"""Beyond that a column names images rather than kinds of them."""
_BANDS = 6
_NUMBERS = 8


@dataclass(frozen=True)
class Subgroup:
    """What a test says of some of its images."""

    name: str
    num: int
    scores: Scores | None = None
    """None if there are too few."""
    recall: tuple[float | None, ...] = ()
    """Of each class; None for one without an image here."""


def subgroups(
    probs: NDArray[Any],
    labels: Integers,
    words: Sequence[str],
    class_names: Sequence[str],
    groups: Integers | None = None,
    seed: int = 0,
) -> list[Subgroup]:
    """Score each subgroup apart, in the order of their names; see `scorecard`.

    Their scores rest on the classes that each of them has, which `Scores.missing`
    tells: two with different classes are not to be ranked by them.
    """
    column = np.array([word.strip() or UNKNOWN for word in words])
    found = []
    for name in sorted(set(column.tolist()), key=_natural):
        rows = column == name
        num = int(rows.sum())
        if num < FEWEST:
            found.append(Subgroup(name, num))
            continue
        own = None if groups is None else groups[rows]
        scores = scores_of(probs[rows], labels[rows], class_names, own, seed)
        recall = _recall(probs[rows].argmax(axis=1), labels[rows], len(class_names))
        found.append(Subgroup(name, num, scores, recall))
    return found


def banded(words: Sequence[str]) -> tuple[str, ...]:
    """Join numbers into at most six bands of a round width, if there are many.

    >>> banded(["7", "23", "38", "44", "51", "62", "66", "79", "", "81"])[:3]
    ('0-19', '20-39', '20-39')
    >>> banded(["f", "m", ""])
    ('f', 'm', 'unknown')
    """
    plain = tuple(word.strip() or UNKNOWN for word in words)
    numbers = {word: _number(word) for word in set(plain) - {UNKNOWN}}
    values = [value for value in numbers.values() if value is not None]
    if len(values) < len(numbers) or len(values) <= _NUMBERS:
        return plain
    step = _round_step(max(values) - min(values))
    names = {
        word: _band(math.floor(value / step) * step, step, all(map(_whole, values)))
        for word, value in numbers.items()
        if value is not None
    }
    return tuple(names.get(word, UNKNOWN) for word in plain)


def tells_kinds(words: Sequence[str]) -> bool:
    """Say whether a column divides images into kinds, rather than naming each.

    >>> tells_kinds(["f", "m", "f"]), tells_kinds([f"P{n}" for n in range(50)])
    (True, False)
    """
    return 1 < len(set(words)) <= MOST_SUBGROUPS


def _recall(
    predicted: Integers, labels: Integers, num_classes: int
) -> tuple[float | None, ...]:
    own = [predicted[labels == c] == c for c in range(num_classes)]
    return tuple(float(each.mean()) if len(each) else None for each in own)


def _number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _whole(value: float) -> bool:
    return value == int(value)


def _round_step(span: float) -> float:
    power = 10.0 ** math.floor(math.log10(span / _BANDS))
    return next(m * power for m in (1, 2, 5, 10, 20) if span / (m * power) < _BANDS)


def _band(start: float, step: float, whole: bool) -> str:
    end = start + step - 1 if whole and step > 1 else start + step
    return f"{start:.6g}-{end:.6g}" if start != end else f"{start:.6g}"


def _natural(name: str) -> tuple[bool, float, str]:
    """Put bands in the order of their beginnings, and what is unknown last."""
    first = _number(name.split("-")[0].rstrip("+"))
    return name == UNKNOWN, math.inf if first is None else first, name
