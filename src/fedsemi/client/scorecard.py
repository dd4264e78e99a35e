"""Everything that one test says of a model, each number with what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedsemi.client.ranking import SPECIFICITIES, Operating, Ranking
from fedsemi.client.reliability import Reliability, reliability
from fedsemi.client.resampling import (
    Floats,
    Integers,
    Interval,
    Resamples,
    between,
    draws_for,
    interval,
    without_certainty,
)


@dataclass(frozen=True)
class Threshold:
    """A threshold of one class, and how sure its sensitivity is."""

    at: Operating
    sensitivity: Interval
    """The threshold is chosen anew in each draw."""


@dataclass(frozen=True)
class ClassScores:
    """What is known of one class; nothing but its name if it has no image."""

    name: str
    num: int
    recall: Interval | None = None
    auc: Interval | None = None
    """Against the rest; None without any rest."""
    thresholds: tuple[Threshold, ...] = ()
    calibration: Reliability | None = None
    """Of the probability of this class, over all images."""


@dataclass(frozen=True)
class Scores:
    """The numbers of a test as a whole, and what they rest on."""

    num: int
    num_patients: int | None
    """None if nobody said which images are of one patient."""
    num_draws: int
    missing: tuple[str, ...]
    """Classes without an image: no number here says anything about them."""
    accuracy: Interval
    balanced_accuracy: Interval
    """Mean recall over the classes that are not missing."""
    auc: Interval | None
    """Mean over the same classes; None if there is only one."""


@dataclass(frozen=True)
class Scorecard:
    """A test in full."""

    scores: Scores
    calibration: Reliability
    """Of the probability of the predicted class."""
    classes: tuple[ClassScores, ...]


def scorecard(
    probs: NDArray[Any],
    labels: Integers,
    class_names: Sequence[str],
    groups: Integers | None = None,
    seed: int = 0,
) -> Scorecard:
    """Score probabilities `[N, C]` against true classes `[N]`.

    Args:
        probs: Finite probabilities of each class.
        labels: True classes.
        class_names: All C of them.
        groups: The patient of each image, if that is known.
        seed: Of the draws.
    """
    test = _Test(probs, labels, class_names, groups, seed)
    confidence, right = probs.max(axis=1), probs.argmax(axis=1) == labels
    classes = [test.of_class(c) for c in range(len(class_names))]
    return Scorecard(
        test.overall(), reliability(confidence, right, seed), tuple(classes)
    )


def scores_of(
    probs: NDArray[Any],
    labels: Integers,
    class_names: Sequence[str],
    groups: Integers | None = None,
    seed: int = 0,
) -> Scores:
    """Score a test as a whole; see `scorecard` for the arguments."""
    return _Test(probs, labels, class_names, groups, seed).overall()


class _Test:
    """One test, with what all draws say of every class."""

    def __init__(
        self,
        probs: NDArray[Any],
        labels: Integers,
        class_names: Sequence[str],
        groups: Integers | None,
        seed: int,
    ) -> None:
        self.probs, self.labels, self.seed = probs, labels, seed
        self.names, self.groups = class_names, groups
        self.present = [c for c in range(len(class_names)) if (labels == c).any()]
        self.several = len(self.present) > 1
        num_draws = draws_for(len(labels), len(self.present))
        self.drawn = Resamples(labels, num_draws, groups, seed)
        self.right = probs.argmax(axis=1) == labels
        self.ranks = {c: Ranking.of(probs[:, c], labels == c) for c in self.present}
        self._draw()

    def _draw(self) -> None:
        """Go through the draws once, for all classes and scores."""
        count, classes = self.drawn.num_draws, self.present
        self.recalls = {c: np.zeros(count) for c in classes}
        self.areas = {c: np.zeros(count) for c in classes}
        self.found = {(c, s): np.zeros(count) for c in classes for s in SPECIFICITIES}
        first = 0
        right = self.right.astype(np.float32)
        for weights in self.drawn.chunks():
            part = slice(first, first + weights.shape[1])
            first = part.stop
            for c in classes:
                own = weights[self.labels == c]
                with np.errstate(invalid="ignore"):
                    hits = right[self.labels == c] @ own
                    self.recalls[c][part] = hits / own.sum(axis=0)
                if self.several:
                    curve = self.ranks[c].curve(weights)
                    self.areas[c][part] = curve.area()
                    for s in SPECIFICITIES:
                        self.found[c, s][part] = curve.sensitivity(s)

    def overall(self) -> Scores:
        """Join the classes that have images."""
        everybody = np.ones(len(self.labels), dtype=bool)
        units = self.drawn.units_of(everybody)
        accuracy = float(self.right.mean())
        return Scores(
            num=len(self.labels),
            num_patients=None if self.groups is None else units,
            num_draws=self.drawn.num_draws,
            missing=tuple(
                name for c, name in enumerate(self.names) if c not in self.present
            ),
            accuracy=interval(accuracy, self._accuracies(), units, self.seed),
            balanced_accuracy=self._mean(self._recall, self.recalls, self._units),
            auc=self._mean(self._area, self.areas, self._scarcer)
            if self.several
            else None,
        )

    def of_class(self, c: int) -> ClassScores:
        """Say what is known of one class."""
        if c not in self.present:
            return ClassScores(self.names[c], 0)
        own, units = self.labels == c, self._units(c)
        told = reliability(self.probs[:, c], own, self.seed)
        recall = interval(self._recall(c), self.recalls[c], units, self.seed)
        num = int(own.sum())
        if not self.several:
            return ClassScores(self.names[c], num, recall, calibration=told)
        area = interval(self._area(c), self.areas[c], self._scarcer(c), self.seed)
        thresholds = tuple(self._threshold(c, s, units) for s in SPECIFICITIES)
        return ClassScores(self.names[c], num, recall, area, thresholds, told)

    def _threshold(self, c: int, specificity: float, units: int) -> Threshold:
        at = self.ranks[c].operating(specificity)
        drawn = self.found[c, specificity]
        return Threshold(at, interval(at.sensitivity, drawn, units, self.seed))

    def _accuracies(self) -> Floats:
        """Draw from all images alike: an accuracy owes much to the mix of classes."""
        alike = np.zeros_like(self.labels)
        drawn = Resamples(alike, self.drawn.num_draws, self.groups, self.seed)
        right = self.right.astype(np.float32)
        return np.concatenate([right @ w / w.sum(axis=0) for w in drawn.chunks()])

    def _mean(
        self,
        value: Callable[[int], float],
        drawn: Mapping[int, Floats],
        units: Callable[[int], int],
    ) -> Interval:
        """Average classes; one that is all right or all wrong keeps its doubt."""
        values = [value(c) for c in self.present]
        doubtful = [
            without_certainty(each, drawn[c], units(c), self.seed + c)
            for c, each in zip(self.present, values, strict=True)
        ]
        return between(float(np.mean(values)), np.nanmean(doubtful, axis=0))

    def _units(self, c: int) -> int:
        return self.drawn.units_of(self.labels == c)

    def _scarcer(self, c: int) -> int:
        return min(self._units(c), self.drawn.units_of(self.labels != c))

    def _recall(self, c: int) -> float:
        return float(self.right[self.labels == c].mean())

    def _area(self, c: int) -> float:
        ones = np.ones((len(self.labels), 1), dtype=np.float32)
        return float(self.ranks[c].curve(ones).area()[0])
