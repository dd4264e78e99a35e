"""Two networks on the same images: one learns classes, the other tells images apart.

Zhang et al., Robust Training of Federated Models with Extremely Label Deficiency, ICLR
2024 (Twin-sight); the second one after Chen et al., SimCLR, ICML 2020.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fedsemi.data.client import Batch
from fedsemi.data.ssl_views import two_views
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective
from fedsemi.objectives.proximal import distance
from fedsemi.objectives.workbench import Workbench

TWIN = "twin"


class Twin(nn.Module):
    """A second encoder, and a projector behind it."""

    def __init__(self, encoder: nn.Module, num_features: int, width: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.projector = nn.Sequential(
            nn.Linear(num_features, num_features),
            nn.ReLU(),
            nn.Linear(num_features, width),
        )

    def forward(self, images: Tensor) -> Tensor:
        """Return the projection of each image."""
        projected: Tensor = self.projector(self.encoder(images))
        return projected


def twin_of(width: int, model: Classifier) -> Mapping[str, nn.Module]:
    """Make the second network; it begins with the encoder of the first."""
    return {TWIN: Twin(copy.deepcopy(model.encoder), model.num_features, width)}


def contrast(one: Tensor, two: Tensor, temperature: float) -> Tensor:
    """Return how badly the two projections of an image, [B, d], find each other."""
    both = F.normalize(torch.cat([one, two]), dim=1)  # [2 B, d]
    similarity = both @ both.T / temperature
    itself = torch.eye(len(both), dtype=torch.bool, device=both.device)
    partner = torch.arange(len(both), device=both.device).roll(len(one))
    return F.cross_entropy(similarity.masked_fill(itself, -torch.inf), partner)


def neighborhoods(one: Tensor, two: Tensor) -> Tensor:
    """Return Σ (G₁ − G₂)² / B² of the cosines between a batch's features."""
    first, second = F.normalize(one, dim=1), F.normalize(two, dim=1)
    return (first @ first.T - second @ second.T).square().mean()


class Twins(Objective):
    """The classifier's own loss, the twin's, and that both see the same neighbors.

    Args:
        bench: The client's workbench.
        inner: How the classifier learns.
        contrast_weight: Of telling images apart.
        neighbor_weight: Of the gap between the two neighborhoods.
        temperature: Of the contrast.
        proximal_weight: Of the way from the networks received; 0 leaves it out.
    """

    def __init__(
        self,
        bench: Workbench,
        inner: Objective,
        contrast_weight: float,
        neighbor_weight: float,
        temperature: float,
        proximal_weight: float = 0.0,
    ) -> None:
        super().__init__()
        self._bench = bench
        self.inner = inner
        self.contrast_weight = contrast_weight
        self.neighbor_weight = neighbor_weight
        self.temperature = temperature
        self.proximal_weight = proximal_weight
        self._start: dict[str, Tensor] = {}

    def prepare(self) -> None:
        """Prepare the classifier's part."""
        self.inner.prepare()

    def start_epoch(self, teacher: Classifier) -> None:
        """Let the classifier's part look at the data; note where both began."""
        self._start = dict(teacher.named_parameters())
        self.inner.start_epoch(teacher)
        self.num_pseudo = self.inner.num_pseudo

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Add the losses; the twin learns from labeled images as from others."""
        loss: Tensor = self.inner(student, batch)
        if self.proximal_weight:
            loss = loss + self.proximal_weight * distance(student, self._start)
        bench, twin = self._bench, student.get_submodule(TWIN)
        assert isinstance(twin, Twin)
        images = torch.cat(
            [
                bench.labeled_pixels(batch.labeled),
                bench.unlabeled_pixels(batch.unlabeled),
            ]
        )
        views = two_views(images, bench.setup.views, bench.streams["ssl"])
        one, two = twin(torch.cat(views)).chunk(2)
        # Both networks look at one view; what tells images apart is not drawn anew.
        near = neighborhoods(student.features(views[0]), twin.encoder(views[0]))
        apart = contrast(one, two, self.temperature)
        return loss + self.contrast_weight * apart + self.neighbor_weight * near

    def after_step(self, student: Classifier) -> None:
        """Let the classifier's part follow the student."""
        self.inner.after_step(student)
        self.num_pseudo = self.inner.num_pseudo

    def metrics(self) -> dict[str, float]:
        """Log what the classifier's part does."""
        return self.inner.metrics()
