"""FedConsist: supervised where there are labels, consistent where there are none.

After Yang et al., Federated semi-supervised learning for COVID region segmentation in
chest CT, Medical Image Analysis 2021. **Our reading**: no code was at hand, and the
original segments images. Clients' weights depend on whether they have labels and on
their size, never on what they learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from fedsemi.client.local import answer
from fedsemi.contributions import by_label_status
from fedsemi.data.client import Client
from fedsemi.messages import Memory, Task, Update
from fedsemi.method import Method, Provenance
from fedsemi.objectives.base import Objective, SemiSupervised
from fedsemi.objectives.consistency import SoftConsistency
from fedsemi.objectives.labeler import Labeler
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.workbench import Setup, Workbench
from fedsemi.settings import NotNegative, Share
from fedsemi.state import ServerState


@dataclass(frozen=True)
class FedConsist(Method[ServerState]):
    """Weak and strong views agree; labeled and unlabeled sites have fixed shares."""

    name = "fedconsist"
    cards = ("LC",)
    provenance = Provenance(
        "FedConsist, MedIA",
        2021,
        "weak-strong consistency",
        "labels half, unlabeled by size",
        "our reading",
    )

    setup: Setup
    unsupervised_weight: NotNegative = 1.0
    """Of the consistency loss."""
    labeled_share: Share = 0.5
    """Share of the mean that goes to labeled data."""

    def gentler(self) -> tuple[float, FedConsist]:
        """Go half of the way to labels alone."""
        share = (1 + self.labeled_share) / 2
        return share, replace(self, labeled_share=share)

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
