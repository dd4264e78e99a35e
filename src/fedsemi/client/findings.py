"""What labeled clients find on images that they held out of training.

In a federation these numbers are computed where the images are: a labeled site sends
its `Findings`, never an image. Unlike the oracle of a simulation they need no label
that a site does not have. Whoever reads them asks first whether they can be true.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add

import torch
from torch import Tensor
from torch.nn import functional as F

from fedsemi.client.evaluate import predict
from fedsemi.data.augment import Views
from fedsemi.data.dataset import ImageSet
from fedsemi.messages import Findings, Task, Update, Weights
from fedsemi.objectives.cached_views import CachedViews
from fedsemi.objectives.calibration import (
    EDGES,
    Calibration,
    calibrate,
    calibration_gaps,
    is_count,
)
from fedsemi.objectives.workbench import Setup
from fedsemi.seeds import Streams, seed_of

_LEAST_PROB = 1e-12
_MOST_LOSS = 1 - math.log(_LEAST_PROB)  # rounding included


@dataclass(frozen=True)
class Validation:
    """How well the global model does on all held-out images together."""

    num: int
    accuracy: float
    loss: float
    """Mean negative log-likelihood."""
    per_class_recall: tuple[float | None, ...]
    calibration_error: float
    calibration: Calibration
    """On weak views, as the teacher sees images when it makes pseudo-labels."""


def sizes_of(num_classes: int) -> dict[str, int]:
    """Return how many numbers each field of `Findings` holds."""
    classes, bins = num_classes, len(EDGES)
    return {
        "loss": 1,
        "class_count": classes,
        "class_right": classes,
        "bin_count": bins,
        "bin_right": bins,
        "bin_gap": bins,
    }


def possible(found: Findings, num_classes: int) -> bool:
    """Tell whether numbers from outside can have been counted."""
    sizes = {name: len(numbers) for name, numbers in found.by_name().items()}
    if sizes != sizes_of(num_classes):
        return False
    pairs = [
        *zip(found.class_right, found.class_count, strict=True),
        *zip(found.bin_right, found.bin_count, strict=True),
    ]
    num = sum(found.class_count)
    return (
        num > 0
        and all(is_count(n) for pair in pairs for n in pair)
        and all(right <= count for right, count in pairs)
        and sum(found.bin_count) == num
        and all(abs(gap) <= num for gap in found.bin_gap)
        and 0 <= found.loss[0] <= _MOST_LOSS * num
    )


def validation_of(found: Findings) -> Validation:
    """Say how good the model is that this was counted with."""
    num = sum(found.class_count)
    pairs = zip(found.class_right, found.class_count, strict=True)
    return Validation(
        num=int(num),
        accuracy=sum(found.class_right) / num,
        loss=found.loss[0] / num,
        per_class_recall=tuple(r / count if count else None for r, count in pairs),
        calibration_error=sum(map(abs, found.bin_gap)) / num,
        calibration=Calibration(
            tuple(map(int, found.bin_right)), tuple(map(int, found.bin_count))
        ),
    )


def named(found: Findings | None) -> dict[str, float]:
    """Name the numbers that are not zero, for the log."""
    if found is None:
        return {}
    return {
        f"held_out_{name}_{place}": float(value)
        for name, numbers in found.by_name().items()
        for place, value in enumerate(numbers)
        if value
    }


def with_findings(
    update: Update, held_out: ImageSet | None, setup: Setup, task: Task
) -> Update:
    """Add what the site finds on its held-out images, if any, to its answer.

    It measures the model that came, which is the one that made the pseudo-labels.
    """
    if held_out is None or not task.weights:  # a later step of a masked round
        return update
    seed = seed_of(task.seed, "validation")
    weights = setup.model.own(task.weights)
    return replace(update, findings=Validator(held_out, setup).findings(weights, seed))


def reported(updates: Iterable[Update], num_classes: int) -> Validation | None:
    """Join what labeled sites found of the model that they received.

    A site that is asked several times in a round counts once. A site without labels
    has nothing to find them with: what it says of them is no finding.
    """
    by_site = {
        update.client: update.findings
        for update in updates
        if update.num_labeled and update.findings is not None
    }
    known = [each for each in by_site.values() if possible(each, num_classes)]
    return validation_of(reduce(_added, known)) if known else None


def _added(one: Findings, other: Findings) -> Findings:
    pairs = zip(one.by_name().values(), other.by_name().values(), strict=True)
    return Findings(*(tuple(map(add, *pair)) for pair in pairs))


def held_out_accuracy(
    updates: Iterable[Update], num_classes: int
) -> tuple[float, int] | None:
    """Return the accuracy that labeled sites report, and of how many images."""
    found = reported(updates, num_classes)
    return None if found is None else (found.accuracy, found.num)


@dataclass(frozen=True)
class Validator:
    """Scores models on the held-out images of the labeled clients."""

    held_out: ImageSet
    setup: Setup

    @classmethod
    def of(cls, held_out: Mapping[int, ImageSet], setup: Setup) -> Validator | None:
        """Join what the clients held out; None if nobody holds anything out."""
        parts = [held_out[id] for id in sorted(held_out)]
        if not parts:
            return None
        images = torch.cat([part.images for part in parts])
        return cls(ImageSet(images, torch.cat([p.labels for p in parts])), setup)

    def probs(self, weights: Weights) -> Tensor:
        """Predict the held-out images, [N, C]."""
        setup = self.setup
        model = setup.load(weights)
        images = setup.shown(self.held_out.images)
        return predict(model, images, setup.seen, device=setup.device)

    def validate(self, weights: Weights, seed: int = 0) -> Validation:
        """Measure a model; the seed is that of the weak views."""
        return validation_of(self.findings(weights, seed))

    def findings(self, weights: Weights, seed: int = 0) -> Findings:
        """Count what a model finds; the seed is that of the weak views."""
        setup, labels = self.setup, self.held_out.labels
        model = setup.load(weights)
        images = setup.shown(self.held_out.images)
        views = _WeakViews(setup.seen, Streams(seed))
        clean = predict(model, images, setup.seen, device=setup.device)
        weak = predict(model, images, views, device=setup.device)
        # Bounded for impossible answers.
        losses = F.nll_loss(
            clean.clamp_min(_LEAST_PROB).log(), labels, reduction="none"
        )
        right = labels[clean.argmax(1) == labels]
        count = partial(torch.bincount, minlength=setup.model.num_classes)
        calibration = calibrate(weak, labels)
        return Findings(
            loss=(float(losses.double().sum()),),
            class_count=tuple(count(labels).tolist()),
            class_right=tuple(count(right).tolist()),
            bin_count=calibration.count,
            bin_right=calibration.right,
            bin_gap=tuple(calibration_gaps(clean, labels).tolist()),
        )


@dataclass(frozen=True)
class _WeakViews:
    """Shows weak views where `predict` asks for clean ones."""

    views: Views | CachedViews
    streams: Streams

    def clean(self, images: Tensor, /) -> Tensor:
        return self.views.weak(images, self.streams["validation"])
