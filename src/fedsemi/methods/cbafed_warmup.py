"""CBAFed's warm-up: supervised rounds with temporal ensembling of the model.

Li et al., CVPR 2023 (see `cbafed`). Every few rounds, and in the last, the model is
mixed with an older one, at first that of the first round. With one labeled client and
one epoch a round, this is the released loop, epoch by epoch. Its result alone is the
paper's "CBAFed lower bound".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fedsemi.client.local import answer
from fedsemi.contributions import by_data_size
from fedsemi.data.client import Client
from fedsemi.messages import ClientInfo, Memory, Task, Update, Weights
from fedsemi.method import Method, Provenance
from fedsemi.methods.residual import ResidualState, is_due
from fedsemi.objectives.base import View
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.workbench import Setup
from fedsemi.settings import Count, Share
from fedsemi.weights import blend


@dataclass(frozen=True)
class CBAFedWarmup(Method[ResidualState]):
    """Labeled clients learn; every few rounds most of an older model comes back."""

    name = "cbafed-warmup"
    cards = ("LC",)
    provenance = Provenance(
        "CBAFed, CVPR", 2023, "labels", "by labels, mixed with older models"
    )
    needs = frozenset({"labels"})
    labels_only = True

    setup: Setup
    ensemble_every: Count = 5
    """Rounds between two mixes; the last round of the stage ends in one as well."""
    ensemble_keep: Share = 0.8
    """Share of the older model in them."""
    views: View = "strong"
    """Weak and strong as in the paper's re-run, or weak as released."""

    def init(
        self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0
    ) -> ResidualState:
        """Begin with these weights."""
        self.check_needs(clients)
        return ResidualState(weights, tuple(clients), seed=seed)

    def plan(self, state: ResidualState) -> Sequence[Task]:
        """Ask the clients that have labels."""
        return [state.task(client) for client in state.clients if client.num_labeled]

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn from the labeled part alone."""
        labeled = client.only_labeled()
        return answer(
            task, labeled, memory, self.setup, lambda b: Supervised(b, self.views)
        )

    def aggregate(
        self, state: ResidualState, updates: Sequence[Update]
    ) -> ResidualState:
        """Average by the number of labels; every few rounds, mix with the older."""
        shares = by_data_size(updates)
        weights, residual = state.mixed(updates, shares), state.residual
        if state.round == 0:
            residual = weights
        elif is_due(state.round, self.ensemble_every, self.setup.rounds):
            weights = residual = blend(residual, weights, self.ensemble_keep)
        return replace(state.advanced(weights, updates, shares), residual=residual)
