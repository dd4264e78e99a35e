"""FedMatch: labels and unlabeled images teach two parts of each weight; peers help.

Jeong, Yoon, Yang, Hwang, Federated Semi-Supervised Learning with Inter-Client
Consistency and Disjoint Learning, ICLR 2021, with labels at clients. Weights are sums,
θ = σ + ψ: labels move σ, unlabeled images ψ. The server knows a client's model by what
it says of one picture of noise; in every tenth round a client gets the ψ of the two
clients whose models say the most similar. With these helpers it votes on labels, and
its predictions shall agree with theirs. Both parts are averaged over clients alike.

Clients are shown each other's ψ, one by one: no other method here does that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import torch
from torch import Tensor

from fedsemi.client.local import answer
from fedsemi.client.networks import frozen
from fedsemi.data.client import Client
from fedsemi.messages import ClientInfo, Memory, Task, Update, Weights
from fedsemi.method import Provenance
from fedsemi.methods.averaging import draw_clients
from fedsemi.methods.own_learner import OwnLearner
from fedsemi.methods.peers import nearest, noise_picture, said_of
from fedsemi.objectives.base import Objective
from fedsemi.objectives.disjoint import Disjoint, Weighing
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.two_parts import apart, flat_psi, joined, psi_of, with_psi
from fedsemi.objectives.workbench import Parts, Workbench
from fedsemi.settings import Count, NotNegative, Positive, Share, Whole
from fedsemi.state import ServerState

HELPERS = "helpers"
"""Broadcast [H, P]: ψ of the helpers, all weights of one after the other."""


@dataclass(frozen=True)
class FedMatchState(ServerState):
    """The server's state with what it last saw of each client."""

    said: Mapping[int, Tensor] = field(default_factory=dict)
    """Probabilities of the picture of noise under the client's model, [C], by id."""
    psi: Mapping[int, Tensor] = field(default_factory=dict)
    """Its ψ, [P], by id."""


@dataclass(frozen=True)
class FedMatch(OwnLearner[FedMatchState]):
    """Disjoint weights for labels and unlabeled images, and peers that vote."""

    name = "fedmatch"
    cards = ("LAC",)
    provenance = Provenance(
        "FedMatch, ICLR",
        2021,
        "disjoint weights, votes of helpers",
        "both parts alike",
        "hands clients each other's ψ",
    )
    announces = frozenset({HELPERS})

    cutoff: Share = 0.75
    """Least confidence of an unlabeled sample, by the local model."""
    helpers: Whole = 2
    """H, other clients whose ψ a client gets; 0 for none."""
    helper_interval: Count = 10
    """Rounds from one sending of helpers to the next."""
    psi_factor: Positive = 0.2
    """Size of ψ, in that of σ, to begin with."""
    supervised_weight: NotNegative = 10.0
    """Of the loss on labels."""
    agreement_weight: NotNegative = 0.01
    """Of learning the label that was voted for."""
    consistency_weight: NotNegative = 0.01
    """Of predicting as the helpers do."""
    nearness_weight: NotNegative = 10.0
    """Of ‖σ − ψ‖²."""
    sparsity_weight: NotNegative = 1e-4
    """Of ‖ψ‖₁."""

    @property
    def parts(self) -> Parts:
        """Make ψ; what the stage begins with is σ + ψ."""
        return partial(psi_of, self.psi_factor / (1 + self.psi_factor))

    def init(
        self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0
    ) -> FedMatchState:
        """Begin with these weights, in two parts."""
        self.check_needs(clients)
        parts = self.setup.first_parts(weights, self.parts, seed)
        return FedMatchState(weights, tuple(clients), seed=seed, parts=parts)

    def plan(self, state: FedMatchState) -> Sequence[Task]:
        """Ask clients that take part; some rounds bring helpers."""
        return [
            state.task(client, 0, **self._helpers(state, client.id))
            for client in draw_clients(state, self.participation)
        ]

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn with both parts of the weights; send their sum and ψ."""
        split = replace(task, weights=apart(task.weights))
        make = partial(self.objective, split)
        update, kept = answer(split, client, memory, self.setup, make, self.parts)
        return replace(update, weights=joined(update.weights)), kept

    def objective(self, task: Task, bench: Workbench) -> Objective:
        """Learn from labels and from votes, each in its part of the weights."""
        told = task.broadcast.get(HELPERS, torch.empty(0))
        helpers = [frozen(self.setup.load(with_psi(task.weights, psi))) for psi in told]
        weighing = Weighing(
            self.supervised_weight,
            self.agreement_weight,
            self.consistency_weight,
            self.nearness_weight,
            self.sparsity_weight,
        )
        return Disjoint(bench, Supervised(bench), helpers, self.cutoff, weighing)

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Count all clients that have images alike."""
        there = [bool(u.num_labeled + u.num_unlabeled) for u in updates]
        return torch.tensor(there, dtype=torch.float64) / max(sum(there), 1)

    def aggregate(
        self, state: FedMatchState, updates: Sequence[Update]
    ) -> FedMatchState:
        """Average both parts; remember what each client's model is like."""
        new = super().aggregate(state, updates)
        if not self.helpers:
            return new
        picture = noise_picture(self.setup, state.seed)
        said = {u.client: said_of(self.setup, u.weights, picture) for u in updates}
        psi = {u.client: flat_psi(u.weights) for u in updates}
        return replace(new, said={**state.said, **said}, psi={**state.psi, **psi})

    def _helpers(self, state: FedMatchState, client: int) -> dict[str, Tensor]:
        if not self.helpers or (state.round + 1) % self.helper_interval:
            return {}
        there = [info.id for info in state.clients]
        found = nearest(state.said, client, there, self.helpers)
        return {HELPERS: torch.stack([state.psi[id] for id in found])} if found else {}
