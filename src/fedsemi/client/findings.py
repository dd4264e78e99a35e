"""What labeled clients find on images that they held out of training.

In a federation these numbers are computed where the images are: a labeled site sends
its `Findings`, never an image. Unlike the oracle of a simulation they need no label
that a site does not have.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from operator import add

import torch
from torch import Tensor
from torch.nn import functional as F

from fedsemi.client.evaluate import predict
from fedsemi.data.augment import Views
from fedsemi.data.dataset import ImageSet
from fedsemi.messages import Task, Update, Weights
from fedsemi.objectives.calibration import (
    EDGES,
    Calibration,
    calibrate,
    calibration_gaps,
    is_count,
)
from fedsemi.objectives.workbench import Setup
from fedsemi.seeds import Streams, seed_of

PREFIX = "held_out_"
"""Metrics of a labeled site: this, a field of `Findings`, and the place in it."""

Numbers = tuple[float, ...]

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


@dataclass(frozen=True)
class Findings:
    """What a site counted on its held-out images: sums, so those of sites add up."""

    loss: Numbers
    """Negative log-likelihood, one number."""
    class_count: Numbers
    """Images of each class, [C]."""
    class_right: Numbers
    """Those whose class was found, [C]."""
    bin_count: Numbers
    """Weak views by the confidence of their prediction, [B]."""
    bin_right: Numbers
    """Those of them whose class was found, [B]."""
    bin_gap: Numbers
    """Hits less confidence of clean views, by confidence, [B]."""

    def as_metrics(self) -> dict[str, float]:
        """Name the numbers that are not zero, to be sent as metrics."""
        return {
            f"{PREFIX}{field.name}_{place}": float(value)
            for field in fields(self)
            for place, value in enumerate(getattr(self, field.name))
            if value
        }

    @classmethod
    def from_metrics(
        cls, metrics: Mapping[str, float], num_classes: int
    ) -> Findings | None:
        """Read them back; None if there are none, or none that can be true."""
        found = cls(
            **{
                name: tuple(
                    metrics.get(f"{PREFIX}{name}_{place}", 0.0) for place in range(size)
                )
                for name, size in _sizes(num_classes).items()
            }
        )
        return found if found._possible() else None

    def __add__(self, other: Findings) -> Findings:
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return Findings(*(tuple(map(add, *pair)) for pair in pairs))

    def _possible(self) -> bool:
        pairs = [
            *zip(self.class_right, self.class_count, strict=True),
            *zip(self.bin_right, self.bin_count, strict=True),
        ]
        num = sum(self.class_count)
        return (
            num > 0
            and all(is_count(n) for pair in pairs for n in pair)
            and all(right <= count for right, count in pairs)
            and sum(self.bin_count) == num
            and all(abs(gap) <= num for gap in self.bin_gap)
            and 0 <= self.loss[0] <= _MOST_LOSS * num
        )

    def validation(self) -> Validation:
        """Say how good the model is that this was counted with."""
        num = sum(self.class_count)
        pairs = zip(self.class_right, self.class_count, strict=True)
        return Validation(
            num=int(num),
            accuracy=sum(self.class_right) / num,
            loss=self.loss[0] / num,
            per_class_recall=tuple(r / count if count else None for r, count in pairs),
            calibration_error=sum(map(abs, self.bin_gap)) / num,
            calibration=Calibration(
                tuple(map(int, self.bin_right)), tuple(map(int, self.bin_count))
            ),
        )


def metric_names(num_classes: int) -> frozenset[str]:
    """Return the names of the metrics that findings travel as, and no others."""
    sizes = _sizes(num_classes)
    return frozenset(
        f"{PREFIX}{name}_{place}" for name in sizes for place in range(sizes[name])
    )


def _sizes(num_classes: int) -> dict[str, int]:
    """Return how many numbers each field of `Findings` holds."""
    kinds = {"loss": 1, "class": num_classes, "bin": len(EDGES)}
    return {f.name: kinds[f.name.split("_")[0]] for f in fields(Findings)}


def with_findings(
    update: Update, held_out: ImageSet | None, setup: Setup, task: Task
) -> Update:
    """Add what the site finds on its held-out images, if any, to its answer.

    It measures the model that came, which is the one that made the pseudo-labels.
    """
    if held_out is None:
        return update
    seed = seed_of(task.seed, "validation")
    weights = setup.model.own(task.weights)
    found = Validator(held_out, setup).findings(weights, seed).as_metrics()
    return replace(update, metrics={**update.metrics, **found})


def reported(updates: Iterable[Update], num_classes: int) -> Validation | None:
    """Join what labeled sites found of the model that they received.

    A site that is asked several times in a round counts once. A site without labels
    has nothing to find them with: what it says of them is no finding.
    """
    by_site = {
        update.client: update.metrics
        for update in updates
        if update.num_labeled and any(n.startswith(PREFIX) for n in update.metrics)
    }
    found = [Findings.from_metrics(each, num_classes) for each in by_site.values()]
    known = [each for each in found if each is not None]
    if not known:
        return None
    total = known[0]
    for each in known[1:]:
        total += each
    return total.validation()


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
        images = self.held_out.images
        return predict(model, images, setup.views, device=setup.device)

    def validate(self, weights: Weights, seed: int = 0) -> Validation:
        """Measure a model; the seed is that of the weak views."""
        return self.findings(weights, seed).validation()

    def findings(self, weights: Weights, seed: int = 0) -> Findings:
        """Count what a model finds; the seed is that of the weak views."""
        setup, labels = self.setup, self.held_out.labels
        model = setup.load(weights)
        images, views = self.held_out.images, _WeakViews(setup.views, Streams(seed))
        clean = predict(model, images, setup.views, device=setup.device)
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

    views: Views
    streams: Streams

    def clean(self, images: Tensor, /) -> Tensor:
        return self.views.weak(images, self.streams["validation"])
