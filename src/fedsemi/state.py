"""What the server remembers: of the method, of the gate, and of the guard.

All of it is plain data, part of every checkpoint, and frozen: a round makes a new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from fedsemi.messages import ClientInfo, Task, Update, Weights
from fedsemi.seeds import seed_of
from fedsemi.weights import weighted_mean


@dataclass(frozen=True)
class GuardState:
    """What the guard remembers from round to round; part of the gate's state."""

    steps: tuple[float, ...] = ()
    """Median step of all clients that answered, in the last checks."""
    labeled_steps: tuple[float, ...] = ()
    """The same of clients with labels."""
    best: float | None = None
    """Best held-out accuracy that labeled clients reported of a global model."""
    judged: int = -1
    """Last round whose model was judged."""
    capped: tuple[int, ...] = ()
    """Clients whose share was cut since then."""
    trust: tuple[tuple[int, float], ...] = ()
    """(client, by what its cap has grown)."""
    caution: float = 1.0
    """Part of their steps that unlabeled clients may go."""


@dataclass(frozen=True)
class GateState:
    """What the gate remembers from round to round; part of the server's state."""

    strikes: tuple[tuple[int, int], ...] = ()
    """(client, round) of the last rounds in which a reply was dropped."""
    quarantine: tuple[tuple[int, int], ...] = ()
    """(client, first round in which it is asked again)."""
    idle: tuple[tuple[int, int], ...] = ()
    """(client, rounds in a row without learning)."""
    skipped: int = 0
    """Rounds skipped in a row."""
    guard: GuardState = field(default_factory=GuardState)


@dataclass(frozen=True, eq=False)
class GroupSum:
    """What the clients of one group sum to, where masks hide single ones."""

    clients: tuple[int, ...]
    """Who was dealt into the group."""
    summed: tuple[int, ...]
    """Whose sum it is; nobody's if too few of them were left."""
    step: NDArray[np.float64]
    """Their steps, each times its client's share; empty without anybody's."""
    share: float
    """Their shares, as they say."""
    part: float = 1.0
    """What of it the model is moved by."""


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
    spent: float = 0.0
    """What all rounds so far have cost, of earlier stages too; see accounting.py."""
    noised: int = 0
    """Rounds so far, of earlier stages too, whose model has noise that was counted."""
    away: tuple[int, ...] = ()
    """Clients that took part, do not now, and may again: their memory is kept."""

    @property
    def also_tested(self) -> Mapping[str, Weights]:
        """Further models of the round that are worth a test, by name."""
        return {}

    @property
    def opened(self) -> tuple[GroupSum, ...]:
        """Sums of groups, which the guard compares before the model moves by them."""
        return ()

    def keeping(self, parts: Sequence[float]) -> Self:
        """Say what of each opened sum the model is moved by."""
        return self

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
