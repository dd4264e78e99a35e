"""A federated method: what the server asks, what a client does, how answers combine.

The smallest whole method, on a model that is one number:

>>> from dataclasses import dataclass, replace
>>> import torch
>>> from fedsemi.contributions import by_data_size
>>> from fedsemi.messages import ClientInfo, Update
>>> from fedsemi.weights import weighted_mean
>>> class MeanOfIds:
...     def init(self, weights, clients, seed=0):
...         return ServerState(weights, tuple(clients), seed=seed)
...     def plan(self, state):                                        # on the server
...         return [state.task(client) for client in state.clients]
...     def train(self, task, client, memory):                        # on the client
...         learned = {"x": torch.tensor([float(task.client)])}
...         return Update(task.client, task.round, learned, 10, 0), memory
...     def aggregate(self, state, updates):                          # on the server
...         shares = by_data_size(updates)
...         return state.advanced(state.mixed(updates, shares), updates, shares)
>>> method = MeanOfIds()
>>> sites = [ClientInfo(id, num_labeled=10, num_unlabeled=0) for id in (1, 2, 6)]
>>> state = method.init({"x": torch.zeros(1)}, sites)
>>> updates = [method.train(task, None, {})[0] for task in method.plan(state)]
>>> state = method.aggregate(state, updates)
>>> state.round, float(state.weights["x"])
(1, 3.0)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol, Self, TypeVar

from torch import Tensor

from fedsemi.data.client import Client
from fedsemi.messages import ClientInfo, Memory, Task, Update, Weights
from fedsemi.seeds import seed_of
from fedsemi.server.gate import GateState
from fedsemi.weights import weighted_mean


@dataclass(frozen=True)
class ServerState:
    """All that the server remembers; methods extend it with fields of their own."""

    weights: Weights
    clients: tuple[ClientInfo, ...]
    round: int = 0
    seed: int = 0
    contributions: Mapping[int, float] = field(default_factory=dict)
    """Share of each client in the last mean, by client id."""
    gate: GateState = field(default_factory=GateState)
    """What the gate remembers; methods leave it alone."""
    good: ServerState | None = None
    """Where the guard returns to if labeled clients find that a model is worse."""
    parts: Weights = field(default_factory=dict)
    """What travels and is averaged with the classifier but is not part of it, e.g. a
    projector or a second head. It is neither tested nor handed to the next stage."""
    running_mean: Weights = field(default_factory=dict)
    """Mean of the models so far, if one is kept; see running_mean.py."""

    @property
    def also_tested(self) -> Mapping[str, Weights]:
        """Further models of the round that are worth a test, by name."""
        return {}

    @cached_property
    def whole(self) -> Weights:
        """All that travels: the classifier and the parts beside it."""
        return {**self.weights, **self.parts} if self.parts else self.weights

    def task(self, client: ClientInfo, group: int = 0, **broadcast: Tensor) -> Task:
        """Make this round's task for one client."""
        seed = seed_of(self.seed, "task", self.round, client.id, group)
        return Task(client.id, self.round, self.whole, broadcast, group, seed)

    def mixed(self, updates: Sequence[Update], shares: Tensor) -> Weights:
        """Average the updates; what the shares leave to one stays on these weights."""
        return weighted_mean(self.whole, [u.weights for u in updates], shares)

    def advanced(
        self, weights: Weights, updates: Sequence[Update], shares: Tensor
    ) -> Self:
        """Close the round with new weights and the shares that made them."""
        contributions: dict[int, float] = {}
        for update, share in zip(updates, shares.tolist(), strict=True):
            contributions[update.client] = contributions.get(update.client, 0) + share
        return replace(
            self,
            weights={key: weights[key] for key in self.weights},
            round=self.round + 1,
            contributions=contributions,
            parts={key: weights[key] for key in self.parts},
        )


S = TypeVar("S", bound=ServerState)


class Method(Protocol[S]):
    """A whole FedSemi method. It holds settings, never state, and can be pickled."""

    def init(self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0) -> S:
        """Return the server's state before the first round."""
        ...

    def plan(self, state: S) -> Sequence[Task]:
        """Say what each client shall do next (server)."""
        ...

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Carry out one task (client). The memory is empty on the first visit."""
        ...

    def aggregate(self, state: S, updates: Sequence[Update]) -> S:
        """Combine the answers (server). The round is over once `state.round` grows."""
        ...
