"""The two apps of a deployment; Flower loads them by name at coordinator and sites."""

from __future__ import annotations

import json
import logging
import os
import signal
from pathlib import Path

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp
from rich.console import Console

from fedsemi.blueprint import Blueprint, read_blueprint
from fedsemi.data.site import read_test_set
from fedsemi.engines.flower.client_app import client_app, deployed_desk
from fedsemi.engines.flower.engine import Patience
from fedsemi.engines.flower.processes import die_with_parent
from fedsemi.engines.flower.register import Register
from fedsemi.engines.flower.roster import Roster
from fedsemi.engines.flower.simulate import run_on_grid
from fedsemi.errors import FedSemiError
from fedsemi.experiment import Judge
from fedsemi.printable import typed
from fedsemi.run_folder import RunFolder
from fedsemi.screen import Screen
from fedsemi.session import carry_on
from fedsemi.storage import write_whole

STATUS = "status.json"
LOG = "coordinator.log"

client = client_app(deployed_desk)
server = ServerApp()


@server.main()
def main(grid: Grid, context: Context) -> None:
    """Run the plan; leave record, log and status in the coordinator's folder."""
    # Flower leaves a ServerApp behind when its SuperLink is killed; it would go on with
    # the run beside the one that a restarted coordinator starts.
    die_with_parent(signal.SIGKILL)
    folder = Path(str(context.run_config["folder"]))
    _write_status(folder, done=False)
    with (folder / LOG).open("a", encoding="utf-8", buffering=1) as log:
        handler = logging.StreamHandler(log)
        logger = logging.getLogger("fedsemi")
        logger.setLevel(logging.INFO)
        logger.addHandler(handler)
        try:
            _run(grid, context, folder, Screen(file=log, width=200))
        except FedSemiError as error:
            _write_status(folder, True, str(error), error.exit_code)
            raise
        except BaseException as error:
            _write_status(folder, True, f"FS0000 {type(error).__name__}: {error}", 70)
            raise
        _write_status(folder, done=True)


def _run(grid: Grid, context: Context, folder: Path, console: Console) -> None:
    config = context.run_config
    blueprint = read_blueprint(str(config["plan"]))
    patience = Patience(float(config["deadline"]), float(config["quorum"]))
    sites, join = int(config["sites"]), float(config["join"])
    with open_run(folder / "run", blueprint) as record:
        roster = Roster(grid, blueprint, Register(folder))
        roster.wait_for(sites, join)
        judge = Judge(read_test_set(folder))
        steps = run_on_grid(grid, blueprint, judge, roster, patience, record.start)
        carry_on(record, blueprint, steps, "federation", console)


def open_run(path: Path, blueprint: Blueprint) -> RunFolder:
    """Continue the run that a coordinator left unfinished, or begin a new one."""
    if any(path.glob("ckpt-*")) and not (path / "summary.json").exists():
        folder = RunFolder.resume(path, blueprint)
    else:
        folder = RunFolder.new(path, blueprint, overwrite=True)
    folder.remedy = f"continue with `{typed('fedsemi', 'server', path.parent)}`"
    return folder


def _write_status(
    folder: Path, done: bool, error: str | None = None, exit_code: int = 0
) -> None:
    status = {"pid": os.getpid(), "done": done, "error": error, "exit_code": exit_code}
    write_whole(folder / STATUS, json.dumps(status).encode())
