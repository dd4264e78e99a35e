"""The stages of an experiment, run on whatever sites a Flower grid reaches.

For a project that has a ServerApp of its own: call `run_on_grid` from its main.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flwr.serverapp import Grid

from fedsemi.config.blueprint import Blueprint
from fedsemi.deployment.coordinator.engine import PATIENCE, FlowerEngine, Patience
from fedsemi.deployment.coordinator.roster import Roster
from fedsemi.method import Method
from fedsemi.runs.checkpoint import Checkpoint
from fedsemi.runs.records import Step
from fedsemi.server.stages import Judge, run_stages


def run_on_grid(
    grid: Grid,
    blueprint: Blueprint,
    judge: Judge,
    roster: Roster,
    patience: Patience = PATIENCE,
    start: Checkpoint | None = None,
    noise_key: bytes | None = None,
) -> Iterator[Step]:
    """Run all stages on the sites of a roster, or those rounds that are left.

    Noise is made from a secret key, if there is one; every site knows the seed.
    """

    def open_engine(method: Method[Any], stage: int) -> FlowerEngine:
        return FlowerEngine(grid, roster, method, stage, patience)

    return run_stages(blueprint, open_engine, judge, start, noise_key)
