"""Barlow Twins: two views of an image shall agree, and no two outputs say the same.

Zbontar, Jing, Misra, LeCun, Deny: Barlow Twins: Self-Supervised Learning via Redundancy
Reduction, ICML 2021.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from fedsemi.data.client import Batch
from fedsemi.data.ssl_views import two_views
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective
from fedsemi.objectives.online_head import OnlineHead
from fedsemi.objectives.workbench import Workbench

PROJECTOR = "projector"


def barlow_projector(width: int, model: Classifier) -> Mapping[str, nn.Module]:
    """Make three linear layers of this width; the output is normalized, not scaled."""
    widths = [model.num_features, width, width]
    layers: list[nn.Module] = []
    for size in widths[:2]:
        layers += [nn.Linear(size, width, bias=False), nn.BatchNorm1d(width), nn.ReLU()]
    layers += [nn.Linear(width, width, bias=False), nn.BatchNorm1d(width, affine=False)]
    return {PROJECTOR: nn.Sequential(*layers)}


def redundancy(cross: Tensor, off_diagonal: float) -> Tensor:
    """Return the loss of a cross-correlation matrix; zero for the identity."""
    diagonal = cross.diagonal()
    off = cross.square().sum() - diagonal.square().sum()
    return (1 - diagonal).square().sum() + off_diagonal * off


class BarlowTwins(Objective):
    """Redundancy of the projected views, and a head that looks on."""

    def __init__(
        self, bench: Workbench, online: OnlineHead, scale: float, off_diagonal: float
    ) -> None:
        super().__init__()
        self._bench = bench
        self.online = online
        self.scale = scale
        self.off_diagonal = off_diagonal

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the scaled loss of two views plus that of the head."""
        setup = self._bench.setup
        images = self._bench.unlabeled_pixels(batch.unlabeled)
        views = two_views(images, setup.views, self._bench.streams["ssl"])
        features = [student.features(view) for view in views]
        projector = student.get_submodule(PROJECTOR)
        one, two = (projector(feature) for feature in features)
        # The nominal batch size also for the short last batch, which so weighs less.
        cross = one.T @ two / setup.local.batch_size
        loss = self.scale * redundancy(cross, self.off_diagonal)
        online: Tensor = self.online(student, features, batch.unlabeled)
        return loss + online

    def metrics(self) -> dict[str, float]:
        """Log how well the head does on what it learns."""
        return self.online.metrics()
