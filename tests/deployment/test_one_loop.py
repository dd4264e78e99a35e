"""One round, wherever its tasks are carried out: the same records, the same bits.

Every engine meets the same events. Client 2 sends a model that is not finite in the
first round; in the second round the only labeled client does, so that there is no
quorum; then client 3 joins, and two rounds are undisturbed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

pytest.importorskip("flwr")

from flwr.app import Message

from fedsemi.deployment.codec import decode_update, encode_update
from fedsemi.deployment.coordinator.engine import FlowerEngine
from fedsemi.deployment.coordinator.roster import Roster
from fedsemi.deployment.coordinator.strategy import MethodStrategy
from fedsemi.deployment.one_machine.loopback import LoopbackGrid
from fedsemi.deployment.one_machine.simulate import dealt
from fedsemi.engine import Engine, WrappedEngine
from fedsemi.engines import InProcess, Workers
from fedsemi.messages import Answer, ClientInfo, Task, Update
from fedsemi.method import Method
from fedsemi.server.rounds import Round
from fedsemi.server.stages import EngineMaker, Judge, run_stages
from fedsemi.simulation.build import Simulation
from fedsemi.weights import digest

from .conftest import tiny

ROUNDS, LATE = 4, 3
METHODS = ["isofed", "cbafed"]
"""Both have rounds of two phases: IsoFed all of them, CBAFed its first one."""


class Events:
    """What happens, told by the rounds of the tasks that are carried out."""

    def __init__(self) -> None:
        self.joined = False
        self.phases = 0

    def see(self, round: int) -> None:
        self.joined |= round == 1

    def spoil(self, update: Update) -> Update:
        if (update.round, update.client) not in ((0, 2), (1, 0)):
            return update
        bad = {
            name: value * float("nan") if value.is_floating_point() else value
            for name, value in update.weights.items()
        }
        return replace(update, weights=bad)


class Eventful(WrappedEngine):
    """An engine on this machine to which these things happen."""

    def __init__(self, engine: Engine, events: Events) -> None:
        super().__init__(engine)
        self._events = events

    def clients(self) -> Sequence[ClientInfo]:
        everybody = self.engine.clients()
        return [c for c in everybody if c.id != LATE or self._events.joined]

    def run(self, tasks: Sequence[Task]) -> Sequence[Answer]:
        self._events.phases += 1
        self._events.see(tasks[0].round)
        answers = self.engine.run(tasks)
        return [self._events.spoil(a) if isinstance(a, Update) else a for a in answers]


class EventfulGrid(LoopbackGrid):
    """A grid to whose sites these things happen."""

    def __init__(self, app: Any, num_nodes: int, events: Events) -> None:
        super().__init__(app, num_nodes)
        self._events = events

    def get_node_ids(self) -> list[int]:
        nodes = list(super().get_node_ids())
        return nodes if self._events.joined else [n for n in nodes if n != LATE + 1]

    def answer(self, message: Message) -> Message:
        reply = super().answer(message)
        if message.metadata.message_type != "train":
            return reply
        update = decode_update(reply.content)
        self._events.see(update.round)
        return Message(encode_update(self._events.spoil(update)), reply_to=message)


@contextmanager
def in_process(simulation: Simulation, events: Events) -> Iterator[EngineMaker]:
    yield partial(_local, simulation, events, InProcess)


@contextmanager
def two_workers(simulation: Simulation, events: Events) -> Iterator[EngineMaker]:
    yield partial(_local, simulation, events, partial(Workers, workers=2))


@contextmanager
def _local(
    simulation: Simulation,
    events: Events,
    kind: Callable[..., Engine],
    method: Method[Any],
    _: int,
) -> Iterator[Engine]:
    with kind(method, simulation.federation.clients) as engine:
        yield Eventful(engine, events)


@contextmanager
def flower(simulation: Simulation, events: Events) -> Iterator[EngineMaker]:
    with dealt(simulation) as app:
        grid = EventfulGrid(app, 4, events)
        roster = Roster(grid, simulation)
        roster.wait_for(LATE, 10)
        yield lambda method, stage: FlowerEngine(grid, roster, method, stage)


Opened = Callable[[Simulation, Events], AbstractContextManager[EngineMaker]]


def conducted(opened: Opened, simulation: Simulation, events: Events) -> list[Any]:
    """Run the stage; return each round's record, without its time, and its bits."""
    found = []
    with opened(simulation, events) as open_engine:
        for step in run_stages(simulation, open_engine, Judge()):
            found.append((replace(step.record, seconds=0.0), digest(step.weights)))
    return found


def simulation_of(method: str) -> Simulation:
    return tiny(
        method,
        partition={"num_clients": 4},
        stages=[{"method": method, "rounds": ROUNDS}],
    )


@pytest.fixture(scope="module", params=METHODS)
def expected(request: pytest.FixtureRequest) -> tuple[Simulation, list[Any], int]:
    """The records of this process, and in how many phases they were made."""
    simulation, events = simulation_of(request.param), Events()
    return simulation, conducted(in_process, simulation, events), events.phases


def test_all_of_it_happens(expected) -> None:
    simulation, steps, phases = expected
    records, bits = zip(*steps, strict=True)
    assert simulation.federation.clients[0].num_labeled  # nobody else's labels remain
    assert [{d.client for d in record.dropped} for record in records] == [
        {2},
        {0},
        set(),
        set(),
    ]
    assert {d.code for record in records for d in record.dropped} == {"FS2103"}
    assert [record.skipped for record in records] == [False, True, False, False]
    assert bits[1] == bits[0] != bits[2] != bits[3]
    assert [LATE in record.clients for record in records] == [False, False, True, True]
    assert phases > ROUNDS and all(record.guard for record in records)


@pytest.mark.parametrize("opened", [two_workers, flower], ids=lambda o: o.__name__)
def test_the_records_and_the_bits_are_the_same_in(opened: Opened, expected) -> None:
    simulation, steps, _ = expected
    assert conducted(opened, simulation, Events()) == steps


def test_flowers_own_loop_tells_the_same_and_has_the_same_bits(expected) -> None:
    simulation, steps, phases = expected

    class Telling(MethodStrategy):
        """Keeps what is told of each whole round."""

        def aggregate_train(self, *given: Any) -> Any:
            before, answer = self.done, super().aggregate_train(*given)
            if self.done is not None and self.done is not before:
                told.append(self.done)
            return answer

    told: list[Round[Any]] = []
    with dealt(simulation) as app:
        strategy = Telling(simulation, stage=0, num_sites=LATE)
        grid = EventfulGrid(app, 4, Events())
        strategy.start(grid, strategy.initial_arrays(), phases)
    # Each phase is one of Flower's rounds; a skipped round has but one.
    assert [
        (d.asked, len(d.updates), d.dropped, d.notices, d.skipped) for d in told
    ] == [(r.asked, r.used, r.dropped, r.notices, r.skipped) for r, _ in steps]
    assert [digest(d.state.weights) for d in told] == [bits for _, bits in steps]
