"""SSIL-CDM: ACR on every client, after the appendix of SemiAnAgg (TMLR 2024).

The authors released no code for it: this is our reading. With `prior = "labeled"`
labeled clients tell the server their class counts, and all adjust by the pooled prior,
which is ACR as published carried over; with "local-ema" each client adjusts by its own
running estimate from the global model's pseudo-labels, and no count leaves a client.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

import torch
from torch import Tensor

from fedsemi.client.learners import AdaptiveAdjustment
from fedsemi.client.local import answer
from fedsemi.contributions import by_data_size, by_supervision
from fedsemi.data.client import Client
from fedsemi.messages import CLASS_COUNT, ClientInfo, Memory, Task, Update, Weights
from fedsemi.method import Provenance, Statistic
from fedsemi.methods.averaging import SemiAveraging
from fedsemi.objectives.two_heads import smoothed
from fedsemi.state import ServerState


@dataclass(frozen=True)
class PriorState(ServerState):
    """The usual state and the pooled class counts of the labeled clients."""

    class_count: Tensor = field(default_factory=lambda: torch.zeros(0))


@dataclass(frozen=True)
class SsilCdm(SemiAveraging):
    """Two heads and adaptive logit adjustment on every client (ACR)."""

    name = "ssil-cdm"
    cards = ("LC",)
    provenance = Provenance(
        "ACR in SemiAnAgg",
        2024,
        "two heads, adaptive adjustment",
        "FedAvg-Semi, or FedAvg",
        "our reading, no code released",
    )
    announces = frozenset({"prior"})

    learner: AdaptiveAdjustment = field(default_factory=AdaptiveAdjustment)
    """How clients learn."""
    prior: Literal["labeled", "local-ema"] = "local-ema"
    """Adjust by the labeled clients' classes, or by each client's own estimate."""
    aggregation: Literal["fedavg-semi", "fedavg"] = "fedavg-semi"
    """Labeled and unlabeled data weighed apart (Eq. 2), or by counts alone."""

    @property
    def statistics(self) -> Mapping[str, Statistic]:
        """What the server reads for the labeled prior, from clients with labels."""
        if self.prior == "local-ema":
            return {}
        size = self.setup.model.num_classes
        return {CLASS_COUNT: Statistic(size, senders="labeled", counts=True)}

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return Eq. 2, or FedAvg's shares."""
        if self.aggregation == "fedavg":
            return by_data_size(updates)
        return by_supervision(updates, self.labeled_share_in(updates))

    def init(
        self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0
    ) -> PriorState:
        """Begin with two equal heads and no counts."""
        state = super().init(weights, clients, seed)
        count = torch.zeros(self.setup.model.num_classes)
        return PriorState(
            state.weights,
            state.clients,
            seed=seed,
            parts=state.parts,
            class_count=count,
        )

    def plan(self, state: ServerState) -> Sequence[Task]:
        """Ask every client; with the labeled prior, tell it to all (even at first)."""
        assert isinstance(state, PriorState)
        if self.prior == "local-ema":
            return super().plan(state)
        prior = smoothed(state.class_count)
        return [state.task(client, prior=prior) for client in self.present(state)]

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn with both heads."""
        make = partial(self.learner.objective, prior=task.broadcast.get("prior"))
        return answer(task, client, memory, self.setup, make, self.learner.parts)

    def aggregate(self, state: ServerState, updates: Sequence[Update]) -> PriorState:
        """Average, and pool the class counts that came."""
        averaged = super().aggregate(state, updates)
        assert isinstance(averaged, PriorState)
        told = [
            u.statistics[CLASS_COUNT] for u in updates if CLASS_COUNT in u.statistics
        ]
        if not told:
            return averaged
        return replace(averaged, class_count=torch.stack(told).sum(0).float())
