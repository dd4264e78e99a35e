"""Run an experiment on this machine, where the truth is known for the records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fedsemi.engines import InProcess, Workers, local_engine
from fedsemi.method import Method
from fedsemi.runs.checkpoint import Checkpoint
from fedsemi.runs.records import Step
from fedsemi.server.stages import Judge, run_stages
from fedsemi.simulation.build import Simulation


def run_simulation(
    simulation: Simulation, workers: int = 1, start: Checkpoint | None = None
) -> Iterator[Step]:
    """Run all stages on this machine, or those rounds that a checkpoint lacks."""
    federation = simulation.federation
    _check_needs(simulation)

    def open_engine(method: Method[Any], stage: int) -> InProcess | Workers:
        return local_engine(method, federation.clients, workers)

    judge = Judge(federation.test, federation.held_out, federation.oracle, workers)
    return run_stages(simulation, open_engine, judge, start)


def _check_needs(simulation: Simulation) -> None:
    """Refuse a stage that lacks what it needs before those ahead of it are trained."""
    infos = [client.info for client in simulation.federation.clients]
    for stage in simulation.experiment.stages:
        simulation.method(stage).check_needs(infos)
