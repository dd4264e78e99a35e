"""Carries out the runs of a SuperLink: those that were submitted, with our code.

python -m fedsemi.deployment.coordinator.conductor FOLDER
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import httpx
from flwr.common.constant import SubStatus
from flwr.common.serde import run_from_proto
from flwr.proto.runtime_pb2 import (
    PullTaskInputRequest,
    PullTaskInputResponse,
    PushTaskOutputRequest,
)
from flwr.supercore.constant import TaskType
from flwr.supercore.task_identity import TaskIdentity

from fedsemi.deployment import processes
from fedsemi.deployment.bundle import check_bundle
from fedsemi.deployment.coordinator.deployed import LOG, Terms, run_plan
from fedsemi.deployment.coordinator.door import Door, OperatorGrid
from fedsemi.deployment.tasks import heartbeats, serve_tasks
from fedsemi.errors import FedSemiError

# Every kind of run that can be started, so that a foreign one is refused, not left.
_KINDS = (TaskType.SERVER_APP, TaskType.AGENT_APP, TaskType.SIMULATION)


_PAUSE = 0.5


def serve_runs(folder: Path, home: Path) -> None:
    """Carry out run after run."""
    door = Door.read(folder, home)
    carry_out = partial(_carry_out, door, folder, home)
    with closing(door.tasks()) as tasks:
        serve_tasks(tasks, _KINDS, carry_out, lambda: True, _PAUSE)


def _carry_out(door: Door, folder: Path, home: Path, token: str) -> None:
    # A run that outlived its conductor would go on beside the one that a restarted
    # coordinator starts.
    processes.die_with_parent(signal.SIGKILL)
    with closing(OperatorGrid(door, token)) as grid, heartbeats(grid.runtime):
        failure: str | None = "it broke off; see conductor.log"
        try:
            found = grid.runtime.PullTaskInput(PullTaskInputRequest())
            failure = _failure(grid, found, folder, home)
        finally:
            grid.give_up_soon()
            _tell(grid, failure)


def _failure(
    grid: OperatorGrid, found: PullTaskInputResponse, folder: Path, home: Path
) -> str | None:
    """Carry out a run if it is the one that was submitted; return what went wrong."""
    run = run_from_proto(found.run)
    try:
        check_bundle(found.fab.content, run.override_config)
        terms = Terms.claim(home, run.override_config)
    except FedSemiError as refusal:
        processes.add_line(folder / LOG, f"run {run.run_id}: {refusal}")
        return str(refusal)
    TaskIdentity.task_id = found.task_id
    TaskIdentity.run_id = run.run_id
    TaskIdentity.node_id = found.context.node_id
    grid.set_run(run)
    try:
        run_plan(grid, terms, folder)
    except FedSemiError as error:
        return str(error)
    return None


def _tell(grid: OperatorGrid, failure: str | None) -> None:
    status = SubStatus.FAILED if failure else SubStatus.COMPLETED
    try:
        grid.runtime.PushTaskOutput(
            PushTaskOutputRequest(sub_status=status, details=failure or "")
        )
    except httpx.HTTPError as error:
        print(f"the SuperLink has gone: {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    processes.end_on_sigterm()
    serve_runs(Path(sys.argv[1]), Path(os.environ["FLWR_HOME"]))
