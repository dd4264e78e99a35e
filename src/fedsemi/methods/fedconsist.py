"""FedConsist: supervised where there are labels, consistent where there are none.

After Yang et al., Federated semi-supervised learning for COVID region segmentation in
chest CT, Medical Image Analysis 2021. **Our reading**: no code was at hand, and the
original segments images. Clients' weights depend on whether they have labels and on
their size, never on what they learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from fedsemi.client.local import Setup, Workbench, answer
from fedsemi.contributions import by_label_status
from fedsemi.data.client import Client
from fedsemi.messages import ClientInfo, Memory, Task, Update, Weights
from fedsemi.method import ServerState
from fedsemi.objectives.base import Objective, SemiSupervised
from fedsemi.objectives.consistency import SoftConsistency
from fedsemi.objectives.labeler import Labeler
from fedsemi.objectives.supervised import Supervised
from fedsemi.settings import NotNegative, Share


@dataclass(frozen=True)
class FedConsist:
    """Weak and strong views agree; labeled and unlabeled sites have fixed shares."""

    setup: Setup
    unsupervised_weight: NotNegative = 1.0
    """Of the consistency loss."""
    labeled_share: Share = 0.5
    """Share of the mean that goes to labeled data."""

    def init(
        self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0
    ) -> ServerState:
        """Begin with these weights."""
        return ServerState(weights, tuple(clients), seed=seed)

    def plan(self, state: ServerState) -> Sequence[Task]:
        """Ask every client to learn."""
        return [state.task(client) for client in state.clients]

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn on one client."""
        return answer(task, client, memory, self.setup, self._objective)

    def aggregate(self, state: ServerState, updates: Sequence[Update]) -> ServerState:
        """Average with fixed shares."""
        shares: Tensor = by_label_status(updates, self.labeled_share)
        return state.advanced(state.mixed(updates, shares), updates, shares)

    def _objective(self, bench: Workbench) -> Objective:
        unsupervised = SoftConsistency(bench, Labeler(bench))
        return SemiSupervised(
            Supervised(bench),
            unsupervised,
            unsupervised_weight=self.unsupervised_weight,
        )
