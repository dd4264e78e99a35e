"""Runs that take next to no time, and disks that fail on purpose.

`FEDSEMI_TORTURE=1` (make torture) runs the same tests with the nightly counts.
"""

from __future__ import annotations

import errno
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from rich.console import Console

import fedsemi.storage
from fedsemi.config.experiment import Stage, make_experiment
from fedsemi.contributions import by_data_size
from fedsemi.data.client import Client
from fedsemi.messages import ClientInfo, Memory, Task, Update
from fedsemi.method import Method
from fedsemi.runs.checkpoint import Cursor
from fedsemi.runs.folder import RunFolder
from fedsemi.seeds import Streams
from fedsemi.simulation.build import Simulation, build
from fedsemi.simulation.run import run_simulation
from fedsemi.state import ServerState
from fedsemi.use.session import record_run

Go = Callable[..., dict[str, Any]]
TORTURE = bool(os.environ.get("FEDSEMI_TORTURE"))
CONTENT: dict[str, Any] = {
    "seed": 3,
    "data": {"name": "synthetic", "train_limit": 48, "test_limit": 20},
    "partition": {"num_clients": 2, "labeled_clients": 1},
    "model": {"name": "resnet8", "width": 2},
    "local": {"batch_size": 16},
    "stages": [
        {"method": "supervised", "rounds": 1},
        {"method": "semianagg", "rounds": 3},
    ],
}


@contextmanager
def quick_folder() -> Iterator[Path]:
    """Make a folder in memory, where syncing costs nothing."""
    memory = Path("/dev/shm")
    place = memory if memory.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="reliability-", dir=place) as name:
        yield Path(name)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Stand in for pytest's own, which lies on disk."""
    with quick_folder() as folder:
        yield folder


class Drift(Method[ServerState]):
    """A method that learns nothing: clients add noise, more at every visit."""

    pause = 0.0
    pause_later = 0.0
    """Seconds that every client takes, and takes more after a stage's first round."""

    def train(self, task: Task, client: Client, memory: Memory) -> tuple[Update, Any]:
        time.sleep(self.pause + (self.pause_later if task.round else 0))
        visits = memory.get("visits", torch.zeros(1)) + 1
        noise = torch.randn(1, generator=Streams(task.seed)["noise"])
        weights = {
            key: value + visits * noise if key.endswith("weight") else value
            for key, value in task.weights.items()
        }
        size = client.num_labeled, client.num_unlabeled
        return Update(task.client, task.round, weights, *size), {"visits": visits}

    def aggregate(self, state: ServerState, updates: Sequence[Update]) -> ServerState:
        shares = by_data_size(updates)
        return state.advanced(state.mixed(updates, shares), updates, shares)


class Drifting(Simulation):
    """A simulation whose every stage drifts."""

    def method(self, stage: Stage) -> Drift:
        return Drift()


@dataclass(frozen=True)
class Victim:
    """A run that things are done to, and what it ends in if nothing happens."""

    simulation: Simulation
    undisturbed: dict[str, str]
    weight: float
    """Its part of the nightly counts."""

    def times(self, fast: int, torture: int) -> int:
        return math.ceil(torture * self.weight) if TORTURE else fast


@pytest.fixture(scope="session")
def drift() -> type[Drift]:
    return Drift


@pytest.fixture(scope="session")
def toy(simulation: Simulation, go: Go) -> Victim:
    """A run without learning."""
    parts = {f.name: getattr(simulation, f.name) for f in fields(Simulation)}
    drifting = Drifting(**parts)
    return Victim(drifting, ends_in(drifting, go), 0.75)


@pytest.fixture(scope="session", params=["toy", "real"] if TORTURE else ["toy"])
def victim(
    request: pytest.FixtureRequest, simulation: Simulation, go: Go, toy: Victim
) -> Victim:
    """One fourth of the nightly disturbances meet real learning, the others a toy."""
    if request.param == "toy":
        return toy
    return Victim(simulation, ends_in(simulation, go), 0.25)


def ends_in(simulation: Simulation, go: Go) -> dict[str, str]:
    with quick_folder() as folder:
        summary = go(folder / "run", simulation)
    return {name: summary[name] for name in ("model_sha256", "metrics_sha256")}


@pytest.fixture(scope="session")
def times() -> Callable[[int, int], int]:
    """Choose between the count of the fast suite and that of `make torture`."""
    return lambda fast, torture: torture if TORTURE else fast


@pytest.fixture(scope="session")
def content() -> dict[str, Any]:
    return CONTENT


@pytest.fixture(scope="session")
def simulation() -> Simulation:
    return build(make_experiment(CONTENT))


@pytest.fixture(scope="session")
def go() -> Go:
    """Run, or go on if the folder holds a run; return the summary."""

    def go(path: Path, simulation: Simulation, workers: int = 1) -> dict[str, Any]:
        begun = (path / "config.json").exists()
        folder = (RunFolder.resume if begun else RunFolder.new)(path, simulation)
        with folder, Path(os.devnull).open("w") as nowhere:
            console = Console(file=nowhere)
            steps = run_simulation(simulation, workers, folder.start)
            return record_run(folder, simulation, steps, "test", console)[1]

    return go


@pytest.fixture(scope="session")
def made() -> Callable[[int], tuple[Cursor, ServerState, dict[int, Any]]]:
    """Make the n-th state of a run that never was: cursor, server, memories."""

    def make(number: int) -> tuple[Cursor, ServerState, dict[int, Any]]:
        generator = torch.Generator().manual_seed(number)
        clients = tuple(ClientInfo(id, 5, 7) for id in range(3))
        weights = {"w": torch.randn(40, 25, generator=generator)}
        state = ServerState(weights, clients, number, 9, {0: 0.1 + number, 2: 0.7})
        memories = {
            id: {"momentum": torch.randn(300, generator=generator)} for id in range(3)
        }
        return Cursor(number, 0, number, 0, ""), state, memories

    return make


class FailingOs:
    """The calls of `fedsemi.storage`, until one of them is made to fail.

    `before(name, size)` runs ahead of every call that changes the disk.
    """

    CALLS = (
        "open",
        "posix_fallocate",
        "write",
        "pwrite",
        "ftruncate",
        "fsync",
        "replace",
        "unlink",
    )

    def __init__(self, before: Callable[[str, tuple[Any, ...]], None]) -> None:
        self._before = before

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in self.CALLS:
            return real

        def call(*arguments: Any) -> Any:
            self._before(name, arguments)
            return real(*arguments)

        return call


@pytest.fixture(scope="session")
def failing() -> type[FailingOs]:
    return FailingOs


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], SimpleNamespace]:
    """Make a disk that has room for so many bytes and then fails with an error."""

    def install(room: int, code: int = errno.ENOSPC) -> SimpleNamespace:
        left = SimpleNamespace(bytes=room)

        def before(name: str, arguments: tuple[Any, ...]) -> None:
            if name not in ("write", "pwrite"):
                return
            left.bytes -= len(arguments[1])
            if left.bytes < 0:
                os.write(arguments[0], bytes(arguments[1])[: left.bytes])
                raise OSError(code, os.strerror(code))

        monkeypatch.setattr(fedsemi.storage, "os", FailingOs(before))
        return left

    return install
