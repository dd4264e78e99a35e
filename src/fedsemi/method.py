"""A federated method: what the server asks, what a client does, how answers combine.

The smallest whole method, on a model that is one number:

>>> import torch
>>> from fedsemi.contributions import by_data_size
>>> from fedsemi.messages import ClientInfo, Update
>>> class MeanOfIds(Method):
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

All else that a method may say of itself is below, with a default. The settings of a
method are the fields of its dataclass; the first one is `setup`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass
from typing import Any, ClassVar, Generic, Literal, cast

import torch
from torch import Tensor

from fedsemi.cards import CardName
from fedsemi.data.client import Client
from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.messages import ClientInfo, Memory, Task, Update, Weights
from fedsemi.state import S, ServerState
from fedsemi.sums import Sums

Need = Literal["labels", "unlabeled images"]


@dataclass(frozen=True)
class Provenance:
    """Where a method comes from: a line of `fedsemi methods`."""

    paper: str = "not published"
    """Short title and venue."""
    year: int | None = None
    learner: str = "its own"
    """How clients learn."""
    aggregation: str = "its own"
    """How the server joins what they learned."""
    note: str = ""
    """What a reader has to know before quoting a result."""

    @property
    def reference(self) -> str:
        """Title, venue and year in one line."""
        return self.paper if self.year is None else f"{self.paper} {self.year}"


@dataclass(frozen=True)
class Statistic:
    """A statistic that a method's server step reads: its length and its range."""

    size: int
    low: float = 0.0
    high: float = math.inf
    senders: Literal["unlabeled", "labeled"] = "unlabeled"
    """Clients with such data must send it; others may."""
    counts: bool = False
    """Whether it counts a client's samples, so that the register bounds its sum."""
    of_pseudo_labels: bool = False
    """Whether a class has it only if a pseudo-label fell there."""

    dtype: torch.dtype | None = None
    """Of what only means something in a sum; it is due from nobody, has no range, and
    is not a floating number."""
    reads: Callable[[Tensor], object] | None = None
    """Reads a letter of up to `size` bytes, or raises."""

    def due_from(self, client: ClientInfo) -> bool:
        """Say whether this client must send it."""
        if self.dtype is not None:
            return False
        labeled = self.senders == "labeled"
        return bool(client.num_labeled if labeled else client.num_unlabeled)


class Method(ABC, Generic[S]):
    """A whole FedSemi method. It holds settings, never state, and can be pickled."""

    name: ClassVar[str] = ""
    """Its name in a config; a method from outside is named `module:Class` there."""
    provenance: ClassVar[Provenance] = Provenance()
    cards: ClassVar[tuple[CardName, ...]] = ()
    """Settings of the field that it is made for, the main one first; () says nothing.
    Under others it runs as well, and a line says so."""
    needs: ClassVar[frozenset[Need]] = frozenset()
    """What somebody in the federation must have."""
    labels_only: ClassVar[bool] = False
    """Whether it asks labeled clients alone, and learns from nothing but labels."""
    pseudo_labels: ClassVar[bool] = False
    """Whether unlabeled clients count by pseudo-labels; the gate notes if there are
    none."""
    sends_model: ClassVar[bool] = True
    """Whether a client answers with a model; under masks it sends parts of sums."""
    announces: ClassVar[frozenset[str]] = frozenset()
    """Names of what its tasks bring beside the model. A site refuses all else."""
    own_metrics: ClassVar[frozenset[str]] = frozenset()
    """Names of the numbers that its clients send for the log beside the usual ones."""

    @classmethod
    def settings(cls) -> list[Field[Any]]:
        """List the fields that a config may set."""
        own: tuple[Field[Any], ...] = fields(cls) if is_dataclass(cls) else ()
        return [field for field in own if field.name != "setup"]

    @property
    def statistics(self) -> Mapping[str, Statistic]:
        """What `aggregate` reads of a reply beside the model. All else is refused."""
        return {}

    @property
    def metrics(self) -> frozenset[str]:
        """Names of all numbers that its clients may send for the log."""
        return self.own_metrics

    @property
    def questions(self) -> int:
        """Most tasks that one client may get in a round: of all groups and phases."""
        return 2

    @property
    def anchor_sha256(self) -> str:
        """Hash of random networks that all clients must have alike; "" without any."""
        return ""

    def contributions(self, updates: Sequence[Update]) -> Tensor | None:
        """Return the share of each update, [K], where the mean is one of shares."""
        return None

    def as_sums(self) -> Sums:
        """Say how sites compute their shares themselves, for `privacy.masked`."""
        raise ConfigError(
            f"{self._called} cannot be masked: its server step needs to see the sites "
            "one by one; use semianagg, uniform-semi, fedavg-semi or fedavg",
            code="FS6002",
        )

    def due(self, task: Task) -> Weights:
        """Return those tensors of a task that its answer brings back: all of them.

        A phase in which clients measure something and learn nothing returns less.
        """
        return task.weights

    def gentler(self) -> tuple[float, Method[S]] | None:
        """Return a labeled share half-way to one, and the method with that share.

        None if it has no such share.
        """
        return None

    def init(self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0) -> S:
        """Return the server's state before the first round."""
        self.check_needs(clients)
        return cast(S, ServerState(weights, tuple(clients), seed=seed))

    def plan(self, state: S) -> Sequence[Task]:
        """Say what each client shall do next (server)."""
        return [state.task(client) for client in state.clients]

    @abstractmethod
    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Carry out one task (client). The memory is empty on the first visit."""

    @abstractmethod
    def aggregate(self, state: S, updates: Sequence[Update]) -> S:
        """Combine the answers (server).

        The round is over once `state.round` grows; until then the method is asked for
        the plan of its next phase.
        """

    @property
    def _called(self) -> str:
        return self.name or type(self).__name__

    def check_needs(self, clients: Sequence[ClientInfo]) -> None:
        """Refuse a federation that lacks what the method needs."""
        labeled = any(client.num_labeled for client in clients)
        if "labels" in self.needs and not labeled:
            raise ProtocolError(
                f"{self._called} needs a client with labels, and none of the "
                f"{len(clients)} clients has any; set partition.labeled_clients or "
                "labeled_fraction",
                code="FS2121",
            )
        unlabeled = any(client.num_unlabeled for client in clients)
        if "unlabeled images" in self.needs and not unlabeled:
            raise ProtocolError(
                f"{self._called} needs a client with unlabeled images, and none of the "
                f"{len(clients)} clients has any; use supervised instead",
                code="FS2122",
            )


class WrappedMethod(Method[S]):
    """A method that does as another one; its heirs change a step of it."""

    def __init__(self, method: Method[S]) -> None:
        self.method = method

    @property
    def statistics(self) -> Mapping[str, Statistic]:
        """What the method reads."""
        return self.method.statistics

    def check_needs(self, clients: Sequence[ClientInfo]) -> None:
        """Refuse what the method refuses."""
        self.method.check_needs(clients)

    def due(self, task: Task) -> Weights:
        """Ask back what the method does."""
        return self.method.due(task)

    def init(self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0) -> S:
        """Begin as the method does."""
        return self.method.init(weights, clients, seed)

    def plan(self, state: S) -> Sequence[Task]:
        """Plan as the method does."""
        return self.method.plan(state)

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Train as the method does."""
        return self.method.train(task, client, memory)

    def aggregate(self, state: S, updates: Sequence[Update]) -> S:
        """Aggregate as the method does."""
        return self.method.aggregate(state, updates)


def innermost(method: Method[Any]) -> Method[Any]:
    """Return the method that others are wrapped around."""
    while isinstance(method, WrappedMethod):
        method = method.method
    return method
