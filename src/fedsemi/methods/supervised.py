"""Supervised FedAvg on labels alone.

The warm-up of every method and the lower bound; the upper bound if all clients are
labeled. McMahan et al., Communication-Efficient Learning of Deep Networks from
Decentralized Data, AISTATS 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from fedsemi.client.local import Setup, answer
from fedsemi.contributions import by_data_size
from fedsemi.data.client import Client
from fedsemi.messages import ClientInfo, Memory, Task, Update, Weights
from fedsemi.method import ServerState
from fedsemi.objectives.supervised import Supervised


@dataclass(frozen=True)
class SupervisedFedAvg:
    """Labeled clients learn from their labels; unlabeled ones are not asked."""

    setup: Setup

    def init(
        self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0
    ) -> ServerState:
        """Begin with these weights."""
        return ServerState(weights, tuple(clients), seed=seed)

    def plan(self, state: ServerState) -> Sequence[Task]:
        """Ask the clients that have labels."""
        return [state.task(client) for client in state.clients if client.num_labeled]

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn from the labeled part alone."""
        return answer(task, client.only_labeled(), memory, self.setup, Supervised)

    def aggregate(self, state: ServerState, updates: Sequence[Update]) -> ServerState:
        """Average by the number of labels."""
        shares: Tensor = by_data_size(updates)
        return state.advanced(state.mixed(updates, shares), updates, shares)
