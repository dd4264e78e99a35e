"""What all methods share whose server step is one weighted mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch import Tensor

from fedsemi.data.client import Client
from fedsemi.learners import Learner, PseudoLabeling
from fedsemi.local import Setup, answer
from fedsemi.messages import ClientInfo, Memory, Task, Update, Weights
from fedsemi.method import ServerState


@dataclass(frozen=True)
class Averaging:
    """Everybody learns, the server averages; a method says with which shares."""

    setup: Setup
    learner: Learner = field(default_factory=PseudoLabeling)
    """How clients learn."""

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return the share of each update."""
        raise NotImplementedError

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
        return answer(task, client, memory, self.setup, self.learner.objective)

    def aggregate(self, state: ServerState, updates: Sequence[Update]) -> ServerState:
        """Average the updates with the method's shares."""
        shares = self.contributions(updates)
        return state.advanced(state.mixed(updates, shares), updates, shares)
