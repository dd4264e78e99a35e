"""What labeled clients find on images that they held out of training.

In a federation these numbers are computed where the images are: a labeled client sends
the numbers of `Validation`, never an image. Unlike the oracle of a simulation they need
no label that a site does not have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from fedsemi.calibration import Calibration, calibrate, calibration_error
from fedsemi.data.augment import Views
from fedsemi.data.dataset import ImageSet
from fedsemi.evaluate import metrics, predict
from fedsemi.local import Setup
from fedsemi.messages import Weights
from fedsemi.seeds import Streams


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
        setup, labels = self.setup, self.held_out.labels
        model = setup.load(weights)
        images, views = self.held_out.images, _WeakViews(setup.views, Streams(seed))
        clean = predict(model, images, setup.views, device=setup.device)
        weak = predict(model, images, views, device=setup.device)
        scores = metrics(clean, labels, setup.model.num_classes)
        return Validation(
            num=len(labels),
            accuracy=scores.accuracy,
            loss=mean_loss(clean, labels),
            per_class_recall=scores.per_class_recall,
            calibration_error=calibration_error(clean, labels),
            calibration=calibrate(weak, labels),
        )


def mean_loss(probs: Tensor, labels: Tensor) -> float:
    """Return the mean negative log-likelihood, bounded for impossible answers."""
    return float(F.nll_loss(probs.clamp_min(1e-12).log(), labels))


@dataclass(frozen=True)
class _WeakViews:
    """Shows weak views where `predict` asks for clean ones."""

    views: Views
    streams: Streams

    def clean(self, images: Tensor, /) -> Tensor:
        return self.views.weak(images, self.streams["validation"])
