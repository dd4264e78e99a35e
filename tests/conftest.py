"""Fixtures that many tests share, and the table of promises that they kept."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from benchmarks.common import Section
from benchmarks.sections import Measured, here_and_now, keep
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from fedsemi.config.experiment import make_experiment
from fedsemi.data.augment import Views
from fedsemi.data.client import Client
from fedsemi.messages import Update
from fedsemi.models import ModelSpec
from fedsemi.objectives.workbench import LocalTraining, Setup, Workbench
from fedsemi.seeds import Streams
from fedsemi.simulation.build import Simulation, build
from fedsemi.use.session import run_and_record

_SHARED = Path(__file__).parents[2] / "shared" / "data"
if _SHARED.is_dir():
    # Worker processes and modules that look at import time must see it, too.
    os.environ.setdefault("FEDSEMI_DATA", str(_SHARED))
_BEGUN = pytest.StashKey[tuple[float, float]]()
"""When the tests began, and the load then."""


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Pin the number of threads: it decides about bits."""
    torch.set_num_threads(1)


def _recorded_config() -> dict[str, Any]:
    """Describe an experiment of seconds."""
    return {
        "data": {"name": "synthetic"},
        "partition": {"num_clients": 4},
        "model": {"name": "resnet8", "width": 4},
        "evaluation": {"validation_fraction": 0.2},
        "stages": [
            {"method": "supervised", "rounds": 2},
            {"method": "semianagg", "rounds": 2},
        ],
    }


@pytest.fixture(scope="session")
def real_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train for four rounds."""
    folder = tmp_path_factory.mktemp("runs") / "small"
    simulation = build(make_experiment(_recorded_config()))
    run_and_record(simulation, folder, "small", 1, Console(quiet=True))
    return folder


@pytest.fixture
def setup() -> Setup:
    """A tiny network on color images of 8 pixels."""
    views = Views(size=8, pre=10, mean=(0.5,) * 3, std=(0.25,) * 3)
    model = ModelSpec("resnet8", 4, width=4, image_size=8)
    return Setup(model, views, LocalTraining(batch_size=8))


@pytest.fixture
def tiny_setup(setup: Setup) -> Setup:
    """The smallest network, for three classes."""
    return replace(setup, model=ModelSpec("resnet8", 3, width=2, image_size=8))


@pytest.fixture
def make_client() -> Callable[..., Client]:
    """Make a client of random images; all labels are below three."""

    def make(id: int = 0, labeled: int = 0, unlabeled: int = 0) -> Client:
        generator = torch.Generator().manual_seed(id)

        def images(count: int) -> torch.Tensor:
            shape = (count, 3, 8, 8)
            return torch.randint(256, shape, dtype=torch.uint8, generator=generator)

        labels = torch.arange(labeled) % 3
        return Client(id, images(labeled), labels, images(unlabeled))

    return make


@pytest.fixture
def make_bench(
    setup: Setup, make_client: Callable[..., Client]
) -> Callable[..., Workbench]:
    """Make a workbench around a random client."""

    def make(labeled: int = 0, unlabeled: int = 0, **settings: Any) -> Workbench:
        local = LocalTraining(batch_size=8, **settings)
        return Workbench(
            make_client(0, labeled, unlabeled),
            Setup(setup.model, setup.views, local),
            Streams(1),
        )

    return make


@pytest.fixture
def make_update() -> Callable[..., Update]:
    """Make an update that carries only what aggregation reads."""

    def make(client: int = 0, **fields: Any) -> Update:
        given = {"round": 0, "weights": {}, "num_labeled": 0, "num_unlabeled": 0}
        return Update(client=client, **(given | fields))

    return make


@pytest.fixture
def small_config() -> dict[str, Any]:
    """An experiment that runs in about a second."""
    return {
        "seed": 3,
        "data": {"name": "synthetic", "train_limit": 160, "test_limit": 60},
        "partition": {"num_clients": 4, "min_size": 5},
        "model": {"name": "resnet8", "width": 4},
        "local": {"batch_size": 16},
        "stages": [
            {"method": "supervised", "rounds": 2},
            {"method": "semianagg", "rounds": 2, "learner": {"cutoff": 0.3}},
        ],
    }


@pytest.fixture
def simulation(small_config: dict[str, Any]) -> Simulation:
    """The small experiment with its data in memory."""
    return build(make_experiment(small_config))


@pytest.fixture
def promise(
    record_property: Callable[[str, object], None],
) -> Callable[[str, int, int], None]:
    """Report how often a promise was tried and how often it failed."""

    def report(name: str, tried: int, failed: int) -> None:
        record_property("promise", [name, tried, failed])

    return report


@pytest.fixture
def tried_on(promise: Callable[[str, int, int], None]) -> Callable[..., None]:
    """Try a check on so many drawn examples, and report how many there were."""

    def run(
        name: str,
        examples: int,
        check: Callable[..., None],
        *drawn: st.SearchStrategy[Any],
    ) -> None:
        tried, failed = 0, 1

        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(st.tuples(*drawn))
        def each(example: tuple[Any, ...]) -> None:
            nonlocal tried
            tried += 1
            check(*example)

        try:
            each()
            failed = 0
        finally:
            promise(name, tried, failed)

    return run


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--keep-promises",
        action="store_true",
        help="With FEDSEMI_TORTURE, keep the table of promises if nothing failed.",
    )


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.stash[_BEGUN] = time.perf_counter(), os.getloadavg()[0]


def _by_number(name: str) -> list[str | int]:
    """Sort IN-2 before IN-10."""
    return [int(p) if p.isdigit() else p for p in re.split(r"(\d+)", name)]


def pytest_terminal_summary(
    terminalreporter: Any, exitstatus: int, config: pytest.Config
) -> None:
    """Print what was promised, how often it was tried and how often it failed.

    Tests of one promise, slow and fast, are added up.
    """
    rows: dict[str, list[int]] = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for kind, row in report.user_properties:
                if kind == "promise" and report.when == "call":
                    counts = rows.setdefault(row[0], [0, 0])
                    counts[:] = counts[0] + row[1], counts[1] + row[2]
    if not rows:
        return
    terminalreporter.section("promises")
    terminalreporter.write_line(f"{'promise':<62}{'tried':>8}{'failed':>8}")
    names = sorted(rows, key=_by_number)
    for name in names:
        tried, failed = rows[name]
        terminalreporter.write_line(f"{name:<62}{tried:>8}{failed:>8}")
    # A test that failed may not have come to say so: such a table is not kept.
    kept = config.getoption("--keep-promises") and os.environ.get("FEDSEMI_TORTURE")
    if kept and exitstatus == pytest.ExitCode.OK:
        begun, load = config.stash[_BEGUN]
        cells = [[name, *(f"{count:,}" for count in rows[name])] for name in names]
        keep(
            "torture",
            Measured(
                Section("Promises", "", ["promise", "tried", "failed"], cells),
                here_and_now(time.perf_counter() - begun, load),
            ),
        )
