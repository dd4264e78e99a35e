"""Supervised FedAvg on labels alone.

The warm-up of every method and the lower bound; the upper bound if all clients are
labeled. McMahan et al., Communication-Efficient Learning of Deep Networks from
Decentralized Data, AISTATS 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from fedsemi.client.local import answer
from fedsemi.contributions import by_data_size
from fedsemi.data.client import Client
from fedsemi.messages import Memory, Task, Update
from fedsemi.method import Method, Provenance
from fedsemi.objectives.base import LabelView
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.workbench import Setup
from fedsemi.state import ServerState
from fedsemi.sums import Sums


@dataclass(frozen=True)
class SupervisedFedAvg(Method[ServerState]):
    """Labeled clients learn from their labels; unlabeled ones are not asked."""

    name = "supervised"
    cards = ("LC", "LPC", "LAC", "LS")
    provenance = Provenance(
        "FedAvg, AISTATS", 2017, "labels", "by number of labels", "bounds, warm-up"
    )
    labels_only = True

    setup: Setup
    views: LabelView = "strong"
    """Weak and strong as in the paper, weak alone, or clean: as is, for half the time
    and as most FedAvg implementations do."""

    def plan(self, state: ServerState) -> Sequence[Task]:
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

    def as_sums(self) -> Sums:
        """Sum labels."""
        return Sums(lambda update: update.num_labeled)

    def aggregate(self, state: ServerState, updates: Sequence[Update]) -> ServerState:
        """Average by the number of labels."""
        shares: Tensor = by_data_size(updates)
        return state.advanced(state.mixed(updates, shares), updates, shares)
