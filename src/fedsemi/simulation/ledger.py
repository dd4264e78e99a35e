"""What really crosses the wire: measured on a small federation, for every method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fedsemi.cards import SERVER
from fedsemi.config.experiment import make_experiment
from fedsemi.engine import WrappedEngine
from fedsemi.engines.in_process import InProcess
from fedsemi.messages import Task, Update
from fedsemi.methods import METHODS
from fedsemi.server.rounds import run
from fedsemi.simulation.build import Simulation, build
from fedsemi.weights import num_bytes

_CLIENTS = 10
_COUNTS = 3 * 8
"""num_labeled, num_unlabeled and num_pseudo, eight bytes each."""


@dataclass(frozen=True)
class Ledger:
    """The traffic of one round with ten clients, labeled as the method's card says."""

    model: int
    """Bytes of the model."""
    transfers: int
    """How often it crosses the wire, both ways together."""
    fields: Mapping[str, int]
    """Bytes of each thing that a client sends; some send it only with labels."""
    up: int
    """Bytes that all clients send."""
    down: int
    """Bytes that the server sends."""
    first_extra: int
    """Bytes by which the first round exceeds this one, both ways."""

    @property
    def beside(self) -> int:
        """Bytes, both ways, of all that is not the model."""
        return self.up + self.down - self.transfers * self.model


def measure(method: str, **settings: Any) -> Ledger:
    """Run two rounds of a method and count the bytes of the second."""
    simulation = build(make_experiment(_content(method, settings)))
    rounds = _recorded(simulation)
    first, last = rounds[0], rounds[-1]
    model = num_bytes(simulation.initial_weights())
    brought = [num_bytes(update.weights) for update in last.updates]
    parts, least = max(brought) - model, min(brought)
    return Ledger(
        model=model,
        transfers=len(last.tasks) + sum(size >= model for size in brought),
        fields={
            "model": model,
            **({"parts": parts} if parts else {}),
            **({"measured": least} if least < model else {}),
            **{
                k: num_bytes({k: v})
                for u in last.updates
                for k, v in u.statistics.items()
            },
            "counts": _COUNTS,
        },
        up=last.up,
        down=last.down,
        first_extra=first.up + first.down - last.up - last.down,
    )


@dataclass
class _Traffic:
    """One round's messages."""

    tasks: list[Task] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)

    @property
    def down(self) -> int:
        return sum(num_bytes(t.weights) + num_bytes(t.broadcast) for t in self.tasks)

    @property
    def up(self) -> int:
        return sum(
            num_bytes(u.weights) + num_bytes(u.statistics) + _COUNTS
            for u in self.updates
        )


class _Recording(WrappedEngine):
    """An engine that keeps what passes through it."""

    def __init__(self, engine: InProcess, at_home: frozenset[int]) -> None:
        super().__init__(engine)
        self._inner = engine
        self._at_home = at_home
        self.rounds: dict[int, _Traffic] = {}

    def run(self, tasks: Sequence[Task]) -> Sequence[Update]:
        updates = self._inner.run(tasks)
        for task, update in zip(tasks, updates, strict=True):
            if task.client not in self._at_home:
                traffic = self.rounds.setdefault(task.round, _Traffic())
                traffic.tasks.append(task)
                traffic.updates.append(update)
        return updates


def _recorded(simulation: Simulation) -> list[_Traffic]:
    (stage,) = simulation.experiment.stages
    method = simulation.method(stage)
    with InProcess(method, simulation.federation.clients) as engine:
        # What the server sends to itself crosses no wire.
        own = simulation.experiment.setting.card == "LS"
        recording = _Recording(engine, frozenset({SERVER} if own else ()))
        state = method.init(simulation.initial_weights(), engine.clients())
        for _ in run(method, recording, state, stage.rounds):
            pass
    return [recording.rounds[number] for number in sorted(recording.rounds)]


def _content(method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    cards = METHODS[method].cards
    card = cards[0] if cards else "LC"
    few = {"card": card, "labels_per_class": 1} if card in ("LAC", "LS") else {}
    return {
        "data": {"name": "synthetic", "train_limit": 80, "test_limit": 8},
        "setting": few or {"card": card},
        "model": {"name": "resnet8", "width": 2},
        "partition": {"scheme": "iid", "num_clients": _CLIENTS, "min_size": 0},
        "stages": [{"method": method, "rounds": 2, **settings}],
    }
