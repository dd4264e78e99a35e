"""Orchestra's loss on a client: views agree on clusters that all clients share.

Lubana, Tang, Kawsar, Dick, Mathur: Orchestra: Unsupervised Federated Learning via
Globally Consistent Clustering, ICML 2022.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fedsemi.data.client import Batch
from fedsemi.data.ssl_views import ORCHESTRA, first_view, two_views
from fedsemi.messages import CENTROIDS
from fedsemi.models import Classifier
from fedsemi.models.copying import copied
from fedsemi.objectives.base import Objective
from fedsemi.objectives.clustering import Sinkhorn, balanced_kmeans
from fedsemi.objectives.online_head import OnlineHead
from fedsemi.objectives.workbench import Workbench

PROJECTOR, ROTATION, TARGET = "projector", "rotation", "target"


def orchestra_parts(width: int, model: Classifier) -> Mapping[str, nn.Module]:
    """Make projector, rotation head and target, a copy of encoder and projector.

    The projector has no biases, and its output is normalized, not scaled.
    """
    projector = nn.Sequential(
        nn.Linear(model.num_features, width, bias=False),
        nn.BatchNorm1d(width),
        nn.ReLU(),
        nn.Linear(width, width, bias=False),
        nn.BatchNorm1d(width, affine=False),
    )
    target = copy.deepcopy(nn.Sequential(model.encoder, projector))
    return {PROJECTOR: projector, ROTATION: nn.Linear(width, 4), TARGET: target}


def agreement(target: Tensor, online: Tensor, temperature: float) -> Tensor:
    """Return the cross entropy between two similarities to the centroids, [B, G]."""
    wanted = (target / temperature).softmax(1)
    return F.cross_entropy(online / temperature, wanted)


def rotated(images: Tensor, turns: Tensor) -> Tensor:
    """Turn each square image by as many right angles as said."""
    every = torch.stack([images.rot90(k, (2, 3)) for k in range(4)])
    return every[turns, torch.arange(len(images), device=images.device)]


@dataclass(frozen=True)
class LocalClusters:
    """How a client clusters what it remembers."""

    count: int
    sinkhorn: Sinkhorn
    iterations: int


class Orchestra(Objective):
    """Agreement on clusters, rotations, and a head that looks on.

    What the target made of the last images lives in the client's memory and never
    leaves it. A client with fewer images than centroids reports zeros: its centroids
    would be the projections of single images.
    """

    centroids: Tensor
    memory: Tensor

    def __init__(
        self,
        bench: Workbench,
        online: OnlineHead,
        centroids: Tensor,
        clusters: LocalClusters,
        *,
        memory_size: int,
        temperature: float,
        rotation_weight: float,
        target_keep: float,
    ) -> None:
        super().__init__()
        self._bench = bench
        self.online = online
        self.clusters = clusters
        self.temperature = temperature
        self.rotation_weight = rotation_weight
        self.target_keep = target_keep
        self.register_buffer("centroids", centroids, persistent=False)
        kept = min(memory_size, bench.client.num_unlabeled)
        self.register_buffer("memory", torch.zeros(kept, centroids.shape[1]))

    @torch.no_grad()
    def start_epoch(self, teacher: Classifier) -> None:
        """Fill the memory on the first visit, with first views."""
        if self.memory.any() or len(self.memory) < 2:
            return
        # Batch norm sees batches as in learning, but keeps its statistics: a copy.
        target = copied(teacher.get_submodule(TARGET)).train()
        draw, setup = self._bench.streams["memory"], self._bench.setup
        order = torch.randperm(self._bench.client.num_unlabeled, generator=draw)
        order = order[: len(self.memory)]
        parts = max(len(order) // setup.local.batch_size, 1)  # no part is a lone image
        for index in order.tensor_split(parts):
            images = self._bench.unlabeled_pixels(index)
            view = first_view(images, setup.views, draw, ORCHESTRA)
            self.remember(F.normalize(target(view), dim=1))

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the losses of two views, of a turned one, and of the head."""
        images, draw = (
            self._bench.unlabeled_pixels(batch.unlabeled),
            self._bench.streams,
        )
        sizes = self._bench.setup.views
        first, second = two_views(images, sizes, draw["ssl"], ORCHESTRA)
        with torch.no_grad():
            self.follow(student)
            target = F.normalize(student.get_submodule(TARGET)(first), dim=1)
            # Only the head and batch norm learn from the first view's own features.
            seen = student.features(first)
        feature = student.features(second)
        projected = F.normalize(student.get_submodule(PROJECTOR)(feature), dim=1)
        loss = agreement(
            target @ self.centroids.T, projected @ self.centroids.T, self.temperature
        )
        self.remember(target)
        online: Tensor = self.online(student, [seen, feature], batch.unlabeled)
        return loss + self.rotation_weight * self._rotation(student, images) + online

    def remember(self, projected: Tensor) -> None:
        """Put new projections in the place of the oldest ones."""
        joined = torch.cat([self.memory, projected])
        self.memory.copy_(joined[len(joined) - len(self.memory) :])

    @torch.no_grad()
    def follow(self, student: Classifier) -> None:
        """Move the target towards encoder and projector."""
        online = (student.encoder, student.get_submodule(PROJECTOR))
        parameters = chain.from_iterable(part.parameters() for part in online)
        target = student.get_submodule(TARGET).parameters()
        for mine, theirs in zip(target, parameters, strict=True):
            mine.lerp_(theirs, 1 - self.target_keep)

    @torch.no_grad()
    def statistics(self) -> dict[str, Tensor]:
        """Cluster the memory; report the centroids, row after row."""
        count, size = self.clusters.count, self.memory.shape[1]
        if len(self.memory) < count:
            return {CENTROIDS: torch.zeros(count * size)}
        draw = self._bench.streams["clusters"]
        first = self.memory[torch.randperm(len(self.memory), generator=draw)[:count]]
        sinkhorn, iterations = self.clusters.sinkhorn, self.clusters.iterations
        centroids = balanced_kmeans(self.memory, first, sinkhorn, iterations, draw)
        return {CENTROIDS: centroids.flatten()}

    def metrics(self) -> dict[str, float]:
        """Log how well the head does on what it learns."""
        return self.online.metrics()

    def _rotation(self, student: Classifier, images: Tensor) -> Tensor:
        draw = self._bench.streams["rotation"]
        turns = torch.randint(4, (len(images),), generator=draw).to(images.device)
        view = first_view(images, self._bench.setup.views, draw, ORCHESTRA)
        feature = student.features(rotated(view, turns))
        projected = student.get_submodule(PROJECTOR)(feature)
        return F.cross_entropy(student.get_submodule(ROTATION)(projected), turns)
