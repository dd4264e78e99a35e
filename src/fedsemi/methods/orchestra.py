"""Orchestra: clusters that all clients share, as a warm-up that needs no label.

Lubana et al., Orchestra: Unsupervised Federated Learning via Globally Consistent
Clustering, ICML 2022. A client clusters what it remembers of its images and sends the
centroids; the server fits global centroids to all of them, and views of an image shall
agree on those. In the first round clients fill their memories and do not learn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fedsemi.contributions import statistic
from fedsemi.data.client import Client
from fedsemi.messages import CENTROIDS, ClientInfo, Memory, Task, Update, Weights
from fedsemi.method import Provenance, Statistic
from fedsemi.methods.self_supervised import SelfSupervised
from fedsemi.models import Classifier
from fedsemi.objectives.clustering import CentroidFit, Sinkhorn
from fedsemi.objectives.orchestra import LocalClusters, Orchestra, orchestra_parts
from fedsemi.objectives.workbench import Workbench
from fedsemi.seeds import Streams, seed_of
from fedsemi.settings import Count, NotNegative, Positive, Share
from fedsemi.state import ServerState


@dataclass(frozen=True)
class OrchestraState(ServerState):
    """The server's state with the clusters that all clients share."""

    centroids: Tensor = field(default_factory=lambda: torch.empty(0))
    """[G, d], each of length one."""


@dataclass(frozen=True)
class OrchestraStage(SelfSupervised):
    """A moving target and the model agree on clusters; rotations help."""

    name = "orchestra"
    cards = ("LC", "LPC", "LAC", "LS")
    provenance = Provenance(
        "Orchestra, ICML",
        2022,
        "shared clusters, no labels",
        "by number of images",
        "a warm-up; projector and target are sent",
    )
    announces = frozenset({"centroids"})

    lr: Positive = 0.003
    """Learning rate of everything but the head."""
    projector_width: Count = 512
    """Of both layers of the projector."""
    global_centroids: Count = 128
    """Clusters that all clients share."""
    local_centroids: Count = 16
    """Clusters that a client sends; one with fewer images than this sends zeros."""
    memory_size: Count = 128
    """Images whose projections a client remembers; SemiAnAgg's released code: 2048."""
    temperature: Positive = 0.1
    """On clients and server; 0.9 is what SemiAnAgg's released code falls back to."""
    rotation_weight: NotNegative = 1.0
    """Of telling by how many right angles an image was turned."""
    target_keep: Share = 0.996
    """What the target keeps of itself in a step."""
    sharpness: Positive = 25.0
    """Of Sinkhorn's assignments, on clients and server."""
    sinkhorn_iterations: Count = 10
    """Of an assignment on a client."""
    local_iterations: Count = 5
    """Of balanced k-means on a client."""
    server_steps: Count = 500
    """Of SGD on the global centroids, in each round."""
    server_lr: Positive = 0.01
    """Of these steps."""
    server_sinkhorn_iterations: Count = 100
    """Of an assignment in each of them, at most."""

    @property
    def statistics(self) -> Mapping[str, Statistic]:
        """What the server reads beside the models."""
        size = self.local_centroids * self.projector_width
        return {CENTROIDS: Statistic(size, -1, 1)}

    def parts(self, model: Classifier) -> dict[str, nn.Module]:
        """Make the projector, the rotation head and the target."""
        return dict(orchestra_parts(self.projector_width, model))

    def init(
        self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0
    ) -> OrchestraState:
        """Begin with these weights, random parts and random centroids."""
        parts = super().init(weights, clients, seed).parts
        shape = (self.global_centroids, self.projector_width)
        draw = Streams(seed_of(seed, "centroids"))["draw"]
        centroids = F.normalize(torch.randn(shape, generator=draw), dim=1)
        return OrchestraState(
            weights, tuple(clients), seed=seed, parts=parts, centroids=centroids
        )

    def plan(self, state: ServerState) -> Sequence[Task]:
        """Ask every client to learn, and send the global centroids."""
        assert isinstance(state, OrchestraState)
        return [state.task(each, centroids=state.centroids) for each in state.clients]

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn without labels on one client, but only look around at first."""

        def make(bench: Workbench) -> Orchestra:
            return self._objective(task.broadcast["centroids"], client, bench)

        learn = self.learn if task.round else self.only_look
        return learn(task, client, memory, make)

    def aggregate(
        self, state: ServerState, updates: Sequence[Update]
    ) -> OrchestraState:
        """Average the models, and fit the global centroids to those of clients."""
        advanced = super().aggregate(state, updates)
        assert isinstance(advanced, OrchestraState)
        sent = [statistic(u, CENTROIDS) for u in updates if CENTROIDS in u.statistics]
        rows = torch.cat([each.view(self.local_centroids, -1) for each in sent])
        rows = F.normalize(rows[rows.any(1)].float(), dim=1)
        if not len(rows):
            return advanced
        sinkhorn = Sinkhorn(self.sharpness, self.server_sinkhorn_iterations)
        fit = CentroidFit(sinkhorn, self.temperature, self.server_steps, self.server_lr)
        return replace(advanced, centroids=fit(advanced.centroids, rows))

    def _objective(self, centroids: Tensor, client: Client, b: Workbench) -> Orchestra:
        sinkhorn = Sinkhorn(self.sharpness, self.sinkhorn_iterations)
        return Orchestra(
            b,
            self.online(client),
            centroids,
            LocalClusters(self.local_centroids, sinkhorn, self.local_iterations),
            memory_size=self.memory_size,
            temperature=self.temperature,
            rotation_weight=self.rotation_weight,
            target_keep=self.target_keep,
        )
