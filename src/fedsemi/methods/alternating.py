"""Rounds of two phases: clients learn and are averaged, then the server learns.

Before the very first one the server learns, too: a fresh model has no labels to give,
and the guard measures clients by a step of somebody with labels.

The server's labels are a participant of their own, known by having labels and nothing
else, where no client has both. With few labels at every client a round has the first
phase alone, in which clients learn from their labels as well; a small one of whose
images all are labeled is a client like the others there.

With static batch norm everybody is asked once more after the server, and before the
very first clients, for the statistics of the model as it is by then.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import Field
from torch import Tensor

from fedsemi.client.local import answer
from fedsemi.contributions import by_data_size
from fedsemi.data.client import Client
from fedsemi.messages import ClientInfo, Memory, Task, Update, Weights
from fedsemi.method import Method
from fedsemi.methods.averaging import draw_clients
from fedsemi.methods.server_momentum import MomentumState, stepped
from fedsemi.methods.static_norm import can_measure, measured, pooled, statistics_in
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.workbench import Setup, with_epochs
from fedsemi.settings import Count

_CLIENTS, _SERVER, _FIRST, _BEFORE, _AFTER = range(5)
_MEASURING = (_BEFORE, _AFTER)


@dataclass(frozen=True)
class AlternatingState(MomentumState):
    """The server's state with the phase of the round."""

    phase: int = _CLIENTS
    """0: clients learn; 1: the server; 2: the server, before anybody else has; 3 and 4:
    all measure statistics, before the first clients and at the end of a round."""
    shares: dict[int, float] = field(default_factory=dict)
    """Of the clients in this round's mean, by id."""


@dataclass(frozen=True)
class Alternating(Method[AlternatingState]):
    """A method says how clients learn and count; the server learns from labels."""

    needs = frozenset({"labels", "unlabeled images"})
    pseudo_labels = True

    setup: Setup
    participation: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Part of the clients that is asked in each round, drawn anew."""
    server_epochs: Count = 5
    """Epochs of the server on its own labels, after the clients' mean."""
    server_momentum: Annotated[float, Field(ge=0, lt=1)] = 0.5
    """What the server keeps of its last step towards the mean."""

    @property
    def static(self) -> bool:
        """Whether batch norm is static."""
        return False

    @property
    def questions(self) -> int:
        """In the first round the server learns twice; a group is a phase."""
        return 5 if self.static else 3

    def due(self, task: Task) -> Weights:
        """Ask for statistics alone where these are measured."""
        if task.group in _MEASURING:
            return statistics_in(self.setup, task.weights)
        return task.weights

    def init(
        self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0
    ) -> AlternatingState:
        """Begin with these weights, at rest."""
        self.check_needs(clients)
        state = AlternatingState(weights, tuple(clients), seed=seed)
        return replace(state, phase=_FIRST) if _servers(state) else self._begun(state)

    def plan(self, state: AlternatingState) -> Sequence[Task]:
        """Ask clients that take part, then the server; the group is the phase."""
        if state.phase in _MEASURING:
            able = [each for each in state.clients if can_measure(each)]
            return [state.task(each, state.phase) for each in able]
        if state.phase != _CLIENTS:
            return [state.task(each, state.phase) for each in _servers(state)]
        drawn = draw_clients(
            replace(state, clients=_learners(state)), self.participation
        )
        return [state.task(client, _CLIENTS) for client in drawn]

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn as a client, or as the server from labels alone; or measure."""
        if task.group in _MEASURING:
            return measured(task, client, self.setup), memory
        if task.group == _CLIENTS:
            update, kept = self.learn(task, client, memory)
        else:
            setup = with_epochs(self.setup, self.server_epochs)
            update, kept = answer(
                task, client, memory, setup, lambda bench: Supervised(bench, "weak")
            )
        if self.static:  # what training found by the way does not leave
            old = statistics_in(self.setup, task.weights)
            update = replace(update, weights={**update.weights, **old})
        return update, kept

    @abstractmethod
    def learn(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn as a client."""

    @abstractmethod
    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return the share of each client's update."""

    def aggregate(
        self, state: AlternatingState, updates: Sequence[Update]
    ) -> AlternatingState:
        """Step towards the clients' mean; a server's own model replaces it."""
        if state.phase in _MEASURING:
            found = replace(state, weights={**state.weights, **pooled(updates)})
            before = state.phase == _BEFORE
            return replace(found, phase=_CLIENTS) if before else _closed(found)
        if state.phase != _CLIENTS:
            weights = state.mixed(updates, by_data_size(updates))
            learned = replace(state, weights=weights)
            first = state.phase == _FIRST
            return self._begun(learned) if first else self._ended(learned)
        shares = self.contributions(updates)
        mean = state.mixed(updates, shares)
        parameters = self.setup.parameter_names
        weights, velocity = state.weights, state.velocity
        if shares.any():  # where nobody learned there is no step to go on from
            weights, velocity = stepped(state, mean, parameters, self.server_momentum)
        told = {u.client: s for u, s in zip(updates, shares.tolist(), strict=True)}
        stepped_on = replace(
            state, weights=weights, velocity=velocity, phase=_SERVER, shares=told
        )
        return stepped_on if _servers(state) else self._ended(stepped_on)

    def _begun(self, state: AlternatingState) -> AlternatingState:
        return replace(state, phase=_BEFORE if self.static else _CLIENTS)

    def _ended(self, state: AlternatingState) -> AlternatingState:
        return replace(state, phase=_AFTER) if self.static else _closed(state)


def _servers(state: AlternatingState) -> list[ClientInfo]:
    if any(c.num_labeled and c.num_unlabeled for c in state.clients):
        return []  # labels lie at clients; one with nothing else is a small client
    return [c for c in state.clients if c.num_labeled and not c.num_unlabeled]


def _learners(state: AlternatingState) -> tuple[ClientInfo, ...]:
    apart = {server.id for server in _servers(state)}
    owners = (c for c in state.clients if c.num_labeled or c.num_unlabeled)
    return tuple(c for c in owners if c.id not in apart)


def _closed(state: AlternatingState) -> AlternatingState:
    return replace(
        state,
        round=state.round + 1,
        phase=_CLIENTS,
        contributions=state.shares,
        shares={},
    )
