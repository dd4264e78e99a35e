"""A table of two rows whose runs take a second."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from fedsemi.evidence.catalogue import Artifact, Cell, setting
from fedsemi.evidence.jobs import Plan, make_plan
from fedsemi.evidence.profiles import Profile, read_profile
from fedsemi.evidence.runner import Runner

TINY = (
    "warm_up=1",
    "rounds=2",
    "data.train_limit=120",
    "data.test_limit=40",
    "evaluation.every=2",
)
FEW = {"num_clients": 3}


@pytest.fixture
def tiny() -> Profile:
    # Tables show no more seeds than a profile plans; that of the smoke test has one.
    return replace(read_profile("smoke", TINY), seeds=5)


@pytest.fixture
def table() -> Artifact:
    arms = {"fedavg-semi": 67.79, "semianagg": 72.24}
    cells = [
        Cell(arm, setting("isic18", arm, **FEW), "accuracy", paper)
        for arm, paper in arms.items()
    ]
    tests = (setting("isic18", "semianagg", **FEW),)
    return Artifact("table0", "Two methods", tuple(cells), tests=tests)


@pytest.fixture
def plan(tiny: Profile, table: Artifact, tmp_path: Path) -> Plan:
    return make_plan(table.settings, tiny, 1, tmp_path)


@pytest.fixture
def runner(plan: Plan) -> Runner:
    return Runner(plan, "smoke", 1, Console(quiet=True))


@pytest.fixture(scope="session")
def medium() -> Profile:
    return read_profile("medium")
