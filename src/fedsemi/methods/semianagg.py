"""SemiAnAgg: unlabeled clients count by their distance from a shared random anchor.

Semi-Supervised Anchor-Based Aggregation for federated semi-supervised learning, TMLR
2024. Eq. 3 is `objectives.diversity.AnchorDiversity`, measured on the client; Eq. 4 is
`contributions.by_diversity`, on the server. A client sends C numbers beside its model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from fedsemi.client.learners import parts_of
from fedsemi.client.local import answer
from fedsemi.contributions import Rule, by_diversity, permuted
from fedsemi.data.client import Client
from fedsemi.messages import DIVERSITY, Memory, Task, Update
from fedsemi.method import ServerState
from fedsemi.methods.averaging import SemiAveraging
from fedsemi.objectives.diversity import (
    anchor_seeds,
    checked_anchor,
    make_anchor,
    make_probe,
)
from fedsemi.server.replies import Statistic
from fedsemi.settings import Count, NotNegative


@dataclass(frozen=True)
class SemiAnAgg(SemiAveraging):
    """FedAvg-Semi with the unlabeled half weighed by diversity."""

    rule: Rule = "paper"
    """Eq. 4 as published, in the order of the released code, or of presence alone."""
    sharpness: NotNegative = 1.0
    """Power of the unlabeled shares: 1 as the rule says, 0 equal, above 1 sharper."""
    anchor_seed: int = 0
    """From which every client makes the same random network."""
    anchors: Count = 1
    """Random networks over which a client averages its diversity; still C numbers."""

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return Eq. 4."""
        share = self.labeled_share_in(updates)
        return by_diversity(updates, share, self.rule, self.sharpness)

    @property
    def statistics(self) -> dict[str, Statistic]:
        """What Eq. 4 reads of every reply."""
        model = self.setup.model
        size, high = model.num_classes, 1 + model.signed_features
        return {DIVERSITY: Statistic(size, 0, high, of_pseudo_labels=True)}

    def plan(self, state: ServerState) -> Sequence[Task]:
        """Ask every client that takes part to learn, and announce the anchors."""
        seed = torch.tensor(self.anchor_seed)
        sha256 = torch.tensor(list(bytes.fromhex(self.anchor_sha256)))
        return [
            state.task(client, anchor_seed=seed, anchor_sha256=sha256.to(torch.uint8))
            for client in self.present(state)
        ]

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn, and measure the diversity of what the teacher saw anyway."""
        announced = bytes(task.broadcast["anchor_sha256"].tolist())
        hashes = [announced[i : i + 32].hex() for i in range(0, len(announced), 32)]
        seeds = anchor_seeds(int(task.broadcast["anchor_seed"]), len(hashes))
        anchors = [
            checked_anchor(self.setup.model, seed, sha256)
            for seed, sha256 in zip(seeds, hashes, strict=True)
        ]
        make = partial(self.learner.objective, probe=partial(make_probe, anchors))
        parts = parts_of(self.learner)
        return answer(task, client, memory, self.setup, make, parts)

    @property
    def anchor_sha256(self) -> str:
        """Hash of the anchor's weights; of several anchors, their hashes in a row."""
        seeds = anchor_seeds(self.anchor_seed, self.anchors)
        return "".join(make_anchor(self.setup.model, seed)[1] for seed in seeds)


@dataclass(frozen=True)
class PermutedSemi(SemiAnAgg):
    """SemiAnAgg's shares handed to the wrong clients: the control for their meaning."""

    permutation_seed: int = 0
    """From which each round's permutation is drawn."""

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return Eq. 4 with its unlabeled shares shuffled among the clients."""
        share = self.labeled_share_in(updates)
        return permuted(updates, share, self.rule, self.permutation_seed)
