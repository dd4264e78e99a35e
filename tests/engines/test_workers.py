"""One worker, many workers or none: the same bits, and errors that say where."""

import gc
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fedsemi.data.augment import Views
from fedsemi.data.client import Client
from fedsemi.engine import Engine
from fedsemi.engines import local_engine
from fedsemi.engines.clock import cpu_seconds
from fedsemi.engines.in_process import InProcess
from fedsemi.engines.workers import FEW, Workers
from fedsemi.errors import ClientFailed, FedSemiError
from fedsemi.messages import Memory, Task, Update
from fedsemi.methods.semianagg import SemiAnAgg
from fedsemi.methods.supervised import SupervisedFedAvg
from fedsemi.models import ModelSpec
from fedsemi.objectives.workbench import Setup
from fedsemi.server.rounds import run
from fedsemi.weights import digest

SETUP = Setup(
    ModelSpec("resnet8", num_classes=3, width=4, image_size=8),
    Views(8, 10, (0.5, 0.5, 0.5), (0.25, 0.25, 0.25)),
)
METHODS = {"supervised": SupervisedFedAvg(SETUP), "semianagg": SemiAnAgg(SETUP)}


@pytest.fixture
def clients(make_client) -> list[Client]:
    sizes = [(70, 0), (0, 90), (0, 40), (20, 30)]
    return [make_client(id, *size) for id, size in enumerate(sizes)]


def leftovers() -> set[Path]:
    own = f"fedsemi-{os.getpid()}-*"
    return {path for place in ("/dev/shm", "/tmp") for path in Path(place).glob(own)}


def digest_after_two_rounds(
    name: str, engine: InProcess | Workers
) -> tuple[str, dict[int, str]]:
    method = METHODS[name]
    with engine:
        weights = SETUP.model.build(0).state_dict()
        state = method.init(weights, engine.clients(), seed=5)
        for done in run(method, engine, state, 2):
            state = done.state
        memories = {each.id: digest(engine.memory(each.id)) for each in state.clients}
    return digest(state.weights), memories


@pytest.mark.parametrize("name", METHODS)
def test_any_number_of_workers_gives_the_bits_of_one_process(name, clients):
    expected = digest_after_two_rounds(name, InProcess(METHODS[name], clients))
    for workers in (1, 2, 4):
        engine = Workers(METHODS[name], clients, workers)
        assert digest_after_two_rounds(name, engine) == expected


def test_what_workers_compute_is_counted_as_processor_time(clients):
    every, own = cpu_seconds(), time.process_time()
    digest_after_two_rounds("supervised", Workers(METHODS["supervised"], clients, 2))
    by_workers = (cpu_seconds() - every) - (time.process_time() - own)
    assert by_workers > 0.02


@pytest.mark.parametrize("name", METHODS)
def test_the_order_of_clients_does_not_matter(name, clients):
    method = METHODS[name]
    forward = digest_after_two_rounds(name, InProcess(method, clients))
    backward = digest_after_two_rounds(name, InProcess(method, clients[::-1]))
    assert forward == backward


def test_a_restored_memory_goes_on_where_it_was(clients):
    method = METHODS["semianagg"]
    weights = SETUP.model.build(0).state_dict()

    def second_round(engine: InProcess | Workers, memories: dict[int, Memory]) -> str:
        with engine:
            engine.restore(memories)
            state = replace(method.init(weights, engine.clients()), round=1)
            return digest(
                method.aggregate(state, engine.run(method.plan(state))).weights
            )

    with InProcess(method, clients) as first:
        first.run(method.plan(method.init(weights, first.clients())))
        memories = {client.id: dict(first.memory(client.id)) for client in clients}
    here = second_round(InProcess(method, clients), memories)
    assert second_round(Workers(method, clients, 2), memories) == here
    assert second_round(InProcess(method, clients), {}) != here


@dataclass(frozen=True)
class Failing(SupervisedFedAvg):
    """Breaks, or takes its whole process along, at one client."""

    how: str = "raise"

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        if client.id == 3 and self.how == "raise":
            raise ZeroDivisionError("no such luck")
        if client.id == 3 and self.how == "exit":
            os._exit(1)
        if client.id == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().train(task, client, memory)


def run_once(method: SupervisedFedAvg, engine: Engine) -> Sequence[Update]:
    state = method.init(SETUP.model.build(0).state_dict(), engine.clients())
    return engine.run(method.plan(replace(state, round=6)))


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_names_the_client_and_the_round(workers, clients):
    method = Failing(SETUP)
    with (
        local_engine(method, clients, workers) as engine,
        pytest.raises(ClientFailed, match="client 3 failed in round 6: Zero") as caught,
    ):
        run_once(method, engine)
    assert (caught.value.client, caught.value.round) == (3, 6)


def test_a_killed_worker_is_told_in_one_line_and_leaves_nothing_behind(clients):
    method = Failing(SETUP, how="kill")
    with (
        Workers(method, clients, 2) as engine,
        pytest.raises(FedSemiError, match="worker process died") as caught,
    ):
        assert leftovers()
        run_once(method, engine)
    assert caught.value.code == "FS7101"
    assert not leftovers()


def test_a_worker_that_ends_by_itself_is_not_taken_for_lack_of_memory(clients):
    method = Failing(SETUP, how="exit")
    with (
        Workers(method, clients, 2) as engine,
        pytest.raises(FedSemiError, match="ended with exit code 1") as caught,
    ):
        run_once(method, engine)
    assert caught.value.code != "FS7101"


@dataclass(frozen=True)
class Waiting(SupervisedFedAvg):
    """Its first client is not done before a file exists."""

    sign: str = ""

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        while client.id == 0 and not Path(self.sign).exists():
            time.sleep(0.01)
        return super().train(task, client, memory)


def test_an_answer_can_be_looked_at_while_others_still_learn(clients, tmp_path):
    method = Waiting(SETUP, sign=f"{tmp_path / 'go'}")
    with Workers(method, clients, 2) as engine:
        state = method.init(SETUP.model.build(0).state_dict(), engine.clients())
        answers = engine.arriving(method.plan(state))
        first = next(answers)
        (tmp_path / "go").touch()
        assert [first.client, *(each.client for each in answers)] == [3, 0]


@dataclass(frozen=True)
class CountingFrozen(SupervisedFedAvg):
    """Reports how many objects a collection of garbage leaves alone."""

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        update, memory = super().train(task, client, memory)
        return replace(update, metrics={"frozen": gc.get_freeze_count()}), memory


def test_a_worker_collects_no_garbage_among_what_it_shares_with_others(clients):
    method = CountingFrozen(SETUP)
    with Workers(method, clients, 1) as engine:
        updates = run_once(method, engine)
    assert all(update.metrics["frozen"] > 10_000 for update in updates)


def test_many_clients_keep_their_answers_on_disk_and_open_no_files(make_client):
    method = METHODS["supervised"]
    clients = [make_client(id, 2, 0) for id in range(FEW + 1)]
    with local_engine(method, clients, workers=1) as engine:
        assert isinstance(engine, Workers)
        assert {path.parent for path in leftovers()} == {Path("/tmp")}
        opened = len(os.listdir("/proc/self/fd"))
        state = method.init(SETUP.model.build(0).state_dict(), engine.clients())
        updates = engine.run(method.plan(state))
        assert len(updates) == len(clients)
        assert len(os.listdir("/proc/self/fd")) <= opened
        spooled = digest(method.aggregate(state, updates).weights)
    assert not leftovers()
    with InProcess(method, clients) as engine:
        updates = engine.run(method.plan(state))
        assert digest(method.aggregate(state, updates).weights) == spooled
