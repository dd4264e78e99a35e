"""FedIRM: unlabeled clients relate classes to each other as labeled ones do.

Liu et al., Federated Semi-supervised Medical Image Classification via Inter-client
Relation Matching, MICCAI 2021. Labeled clients send a matrix [C, C] that says how they
see each class; unlabeled ones match theirs to that of the last round. Unlike the
original: SGD as in all methods here; no dropout, so a label is reliable by the entropy
of the student's one pass and not by that of eleven; docs/concordance.md has the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import torch
from torch import Tensor

from fedsemi.client.local import answer
from fedsemi.contributions import statistic
from fedsemi.data.client import Client
from fedsemi.messages import RELATION, ClientInfo, Memory, Task, Update, Weights
from fedsemi.method import Method, Provenance, Statistic
from fedsemi.objectives.base import Objective, SemiSupervised
from fedsemi.objectives.labeler import Labeler
from fedsemi.objectives.mean_teacher import MeanTeacher
from fedsemi.objectives.relation import RelatedLabels, RelationMatching
from fedsemi.objectives.workbench import Setup, Workbench
from fedsemi.settings import Count, NotNegative, Share, Whole
from fedsemi.state import ServerState


@dataclass(frozen=True)
class FedIRMState(ServerState):
    """The server's state with the labeled clients' view of the classes."""

    relation: Tensor = field(default_factory=lambda: torch.empty(0))
    """[C * C], row after row; empty before the first round."""


@dataclass(frozen=True)
class FedIRM(Method[FedIRMState]):
    """Mean teachers that match the class relations of labeled clients."""

    name = "fedirm"
    cards = ("LC",)
    provenance = Provenance(
        "FedIRM, MICCAI",
        2021,
        "mean teacher, relation matching",
        "plain mean",
        "without dropout",
    )
    needs = frozenset({"labels"})
    announces = frozenset({"relation", "ramp"})

    setup: Setup
    unlabeled_after: Whole = 20
    """Last round without unlabeled clients, counted from 0: they join in the next."""
    unsupervised_weight: NotNegative = 15.0
    """Of consistency and relation matching, at the end of the ramp."""
    ramp_rounds: Count = 30
    """Rounds over which that weight grows, from round 0: it is .64 at the joining."""
    confidence: Share = 0.3
    """Least confidence of a reliable pseudo-label."""
    entropy_below: NotNegative = 2.0
    """Its entropy's bound; no bound at all for fewer than eight classes."""
    teacher_keep: Share = 0.99
    """What a teacher keeps of itself in a step, once it is old enough."""
    label_smoothing: Share = 0.1
    """On labels."""

    @property
    def statistics(self) -> Mapping[str, Statistic]:
        """What the server reads beside the models, from clients with labels."""
        size = self.setup.model.num_classes**2
        return {RELATION: Statistic(size, 0, 1, senders="labeled")}

    def init(
        self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0
    ) -> FedIRMState:
        """Begin with these weights."""
        self.check_needs(clients)
        return FedIRMState(weights, tuple(clients), seed=seed)

    def plan(self, state: FedIRMState) -> Sequence[Task]:
        """Ask labeled clients, later all of them, and send the relations."""
        if state.round <= self.unlabeled_after or not len(state.relation):
            return [state.task(c) for c in state.clients if c.num_labeled]
        done = min(state.round / self.ramp_rounds, 1.0)
        ramp = torch.tensor(math.exp(-5 * (1 - done) ** 2))
        return [
            state.task(client, relation=state.relation, ramp=ramp)
            for client in state.clients
        ]

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn from labels, and once relations are known from the rest too."""
        part = client if "relation" in task.broadcast else client.only_labeled()
        make = partial(self._objective, task.broadcast)
        update, kept = answer(task, part, memory, self.setup, make)
        return replace(update, num_unlabeled=client.num_unlabeled), kept

    def aggregate(self, state: FedIRMState, updates: Sequence[Update]) -> FedIRMState:
        """Take the plain mean of models, and of the relations of labeled clients."""
        data = [bool(update.num_labeled + update.num_unlabeled) for update in updates]
        shares = torch.tensor(data).double() / max(sum(data), 1)
        advanced = state.advanced(state.mixed(updates, shares), updates, shares)
        sent = [statistic(u, RELATION) for u in updates if u.num_labeled]
        if not sent:
            return advanced
        return replace(advanced, relation=torch.stack(sent).mean(0).float())

    def _objective(self, told: Mapping[str, Tensor], bench: Workbench) -> Objective:
        supervised = RelatedLabels(bench, self.label_smoothing)
        if not bench.client.num_unlabeled:
            return supervised
        teacher = MeanTeacher(bench, Labeler(bench), keep=self.teacher_keep)
        relation = told["relation"].view(bench.num_classes, -1).to(bench.setup.device)
        weight = self.unsupervised_weight * float(told["ramp"])
        matching = RelationMatching(
            teacher, relation, weight, self.confidence, self.entropy_below
        )
        return SemiSupervised(supervised, matching)
