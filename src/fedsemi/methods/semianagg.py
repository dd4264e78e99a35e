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

from fedsemi.contributions import Rule, by_diversity, permuted
from fedsemi.data.client import Client
from fedsemi.local import answer
from fedsemi.messages import Memory, Task, Update
from fedsemi.method import ServerState
from fedsemi.methods.averaging import Averaging
from fedsemi.objectives.diversity import AnchorDiversity, checked_anchor, make_anchor
from fedsemi.settings import Share


@dataclass(frozen=True)
class SemiAnAgg(Averaging):
    """FedAvg-Semi with the unlabeled half weighed by diversity."""

    labeled_share: Share = 0.5
    """Share of the mean that goes to labeled data."""
    rule: Rule = "paper"
    """Eq. 4 as published, or the order of operations of the released code."""
    anchor_seed: int = 0
    """From which every client makes the same random network."""

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return Eq. 4."""
        return by_diversity(updates, self.labeled_share, self.rule)

    def plan(self, state: ServerState) -> Sequence[Task]:
        """Ask every client to learn, and announce the anchor."""
        seed = torch.tensor(self.anchor_seed)
        sha256 = torch.tensor(list(bytes.fromhex(self.anchor_sha256)))
        return [
            state.task(client, anchor_seed=seed, anchor_sha256=sha256.to(torch.uint8))
            for client in state.clients
        ]

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn, and measure the diversity of what the teacher saw anyway."""
        anchor = checked_anchor(
            self.setup.model,
            int(task.broadcast["anchor_seed"]),
            bytes(task.broadcast["anchor_sha256"].tolist()).hex(),
        )
        probe = partial(AnchorDiversity, anchor=anchor)
        make = partial(self.learner.objective, probe=probe)
        return answer(task, client, memory, self.setup, make)

    @property
    def anchor_sha256(self) -> str:
        """Hash of the anchor's weights."""
        return make_anchor(self.setup.model, self.anchor_seed)[1]


@dataclass(frozen=True)
class PermutedSemi(SemiAnAgg):
    """SemiAnAgg's shares handed to the wrong clients: the control for their meaning."""

    permutation_seed: int = 0
    """From which each round's permutation is drawn."""

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return Eq. 4 with its unlabeled shares shuffled among the clients."""
        return permuted(updates, self.labeled_share, self.rule, self.permutation_seed)
