"""Run an experiment on this machine, where the truth is known for the records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from fedsemi.engines import InProcess, Workers, local_engine
from fedsemi.method import Method
from fedsemi.privacy.parameters import LEAST_UNLABELED
from fedsemi.runs.checkpoint import Checkpoint
from fedsemi.runs.records import Step
from fedsemi.server.stages import Judge, run_stages
from fedsemi.simulation.build import Simulation

if TYPE_CHECKING:
    from fedsemi.privacy.masked import Masked


def run_simulation(
    simulation: Simulation, workers: int = 1, start: Checkpoint | None = None
) -> Iterator[Step]:
    """Run all stages on this machine, or those rounds that a checkpoint lacks."""
    federation = simulation.federation
    _check_unlabeled(simulation)

    def open_engine(method: Method[Any], stage: int) -> InProcess | Workers:
        return local_engine(method, federation.clients, workers)

    judge = Judge(federation.test, federation.held_out, federation.oracle, workers)
    return run_stages(simulation, open_engine, judge, start)


def _check_unlabeled(simulation: Simulation) -> None:
    """Refuse masked stages that would sum too few sites' claims, before a warm-up."""
    infos = [client.info for client in simulation.federation.clients]
    few = sum(info.num_unlabeled > 0 for info in infos) < LEAST_UNLABELED
    if not few or not simulation.experiment.privacy.masked:
        return
    for stage in simulation.experiment.stages:
        method = simulation.method(stage)
        if not method.sends_model:
            cast("Masked", method).check_unlabeled(infos)
