"""CBAFed: thresholds that follow the classes, and models that remember older ones.

Li et al., Class Balanced Adaptive Pseudo Labeling for Federated Semi-Supervised
Learning, CVPR 2023. The server counts labels and pseudo-labels and sends thresholds; a
client labels itself once and learns from these very views. Older weights are mixed in,
see `residual`. Only wholly labeled clients have `labeled_epochs` (our reading).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from fedsemi.client.local import answer
from fedsemi.client.networks import teacher_of
from fedsemi.contributions import by_data_size, statistic
from fedsemi.data.client import Client
from fedsemi.errors import ConfigError
from fedsemi.messages import (
    CLASS_COUNT,
    PSEUDO_LABEL,
    ClientInfo,
    Memory,
    Task,
    Update,
    Weights,
)
from fedsemi.method import Method, Provenance, Statistic
from fedsemi.methods.residual import ResidualState, is_due, over_epochs
from fedsemi.models import Classifier
from fedsemi.objectives.base import SemiSupervised, View
from fedsemi.objectives.class_balanced import (
    FixedViews,
    class_thresholds,
    counts_alone,
    select,
)
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.workbench import Setup, Workbench, with_epochs
from fedsemi.seeds import Streams, seed_of
from fedsemi.settings import Count, Positive, Share
from fedsemi.sums import Sums
from fedsemi.weights import blend


@dataclass(frozen=True)
class CBAFedState(ResidualState):
    """What the server of CBAFed remembers beside the models."""

    class_count: Tensor = field(default_factory=lambda: torch.empty(0))
    """Labels and pseudo-labels of the last round, [C]; empty before anyone counted."""


@dataclass(frozen=True)
class CBAFed(Method[CBAFedState]):
    """Class-balanced pseudo-labels, weighed by their number, with residual weights."""

    name = "cbafed"
    cards = ("LC",)
    provenance = Provenance(
        "CBAFed, CVPR",
        2023,
        "class-balanced pseudo-labels",
        "by labels and pseudo-labels, mixed with older models",
    )
    needs = frozenset({"labels"})
    pseudo_labels = True
    announces = frozenset({"threshold", "rare"})

    setup: Setup
    cap: Share = 0.95
    """Largest threshold; 0.90 for SVHN and ISIC."""
    base: Share = 0.84
    """Threshold of a class of average frequency, before the spread is taken off."""
    rare_below: Share = 0.03
    """Scaled frequency below which a class is rare and may be a second choice."""
    labeled_multiplier: Positive = 1.0
    """How often the server counts a label; 10 for ISIC."""
    labeled_epochs: Count = 11
    """Epochs of a wholly labeled client; 1 gives it no more work than the others."""
    local_every: Count = 5
    """Epochs between two residual connections on a labeled client; the last has one."""
    local_keep: Share = 0.8
    """Share of the older weights in them."""
    global_every: Count = 5
    """Rounds between two on the server; the last round of the stage has one too."""
    global_keep: Share = 0.5
    """Share of the older weights in them."""
    views: View = "strong"
    """Of labels: weak and strong as in the paper's re-run, or weak as released."""

    @property
    def statistics(self) -> Mapping[str, Statistic]:
        """What the server reads beside the models."""
        return {CLASS_COUNT: Statistic(self.setup.model.num_classes, counts=True)}

    def as_sums(self) -> Sums:
        """Refuse: a phase before the first round has no sum to hide in."""
        raise ConfigError(
            "cbafed cannot be masked: before the first round its server reads the "
            "class counts of the labeled sites alone, which may be one site; use "
            "semianagg or fedavg-semi",
            code="FS6002",
        )

    def init(
        self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0
    ) -> CBAFedState:
        """Begin with these weights, which are the first residual too."""
        self.check_needs(clients)
        return CBAFedState(weights, tuple(clients), seed=seed, residual=weights)

    def plan(self, state: CBAFedState) -> Sequence[Task]:
        """Send thresholds; before the first round, ask for the counts of labels."""
        if not len(state.class_count):
            return [state.task(c) for c in state.clients if c.num_labeled]
        limits = self.cap, self.base, self.rare_below
        threshold, rare = class_thresholds(state.class_count, *limits)
        return [state.task(c, threshold=threshold, rare=rare) for c in state.clients]

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Label the client once, then learn from labels and these pseudo-labels."""
        count = client.labels.bincount(minlength=self.setup.model.num_classes)
        if "threshold" not in task.broadcast:
            return counts_alone(task, client, count), memory
        bench = Workbench(client, self.setup, Streams(seed_of(task.seed, "select")))
        teacher = teacher_of(self.setup, task.weights)
        selected = select(bench, teacher, **task.broadcast)
        count += selected.labels.cpu().bincount(minlength=len(count))
        whole = bool(client.num_labeled and not client.num_unlabeled)
        update, kept = answer(
            task,
            selected.part_of(client),
            memory,
            with_epochs(self.setup, self.labeled_epochs) if whole else self.setup,
            lambda b: SemiSupervised(Supervised(b, self.views), FixedViews(selected)),
            between=self.between if whole else None,
        )
        told = {CLASS_COUNT: count.float()}
        update = replace(update, num_unlabeled=client.num_unlabeled, statistics=told)
        return update, {**kept, PSEUDO_LABEL: selected.pseudo_label}

    def between(self, epochs: Iterator[float], student: Classifier) -> Iterator[float]:
        """Mix the student of a wholly labeled client with its older self."""
        every, keep, number = self.local_every, self.local_keep, self.labeled_epochs
        return over_epochs(epochs, student, every, keep, number)

    def aggregate(self, state: CBAFedState, updates: Sequence[Update]) -> CBAFedState:
        """Average by labels and pseudo-labels; now and then return half of the way."""
        zeros = torch.zeros(self.setup.model.num_classes, dtype=torch.float64)
        count = sum((statistic(update, CLASS_COUNT) for update in updates), zeros)
        if not len(state.class_count):
            return replace(state, class_count=count)
        shares = by_data_size(updates, self.labeled_multiplier)
        weights, residual = state.mixed(updates, shares), state.residual
        if is_due(state.round, self.global_every, self.setup.rounds):
            weights = residual = blend(residual, weights, self.global_keep)
        advanced = state.advanced(weights, updates, shares)
        return replace(advanced, residual=residual, class_count=count)
