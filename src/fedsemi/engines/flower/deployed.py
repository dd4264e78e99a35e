"""What runs in a deployment: the ClientApp of the sites, and the coordinator's run."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from flwr.serverapp import Grid
from rich.console import Console

from fedsemi.blueprint import Blueprint, read_blueprint
from fedsemi.data.site import read_test_set
from fedsemi.engines.flower import processes
from fedsemi.engines.flower.client_app import client_app, deployed_desk
from fedsemi.engines.flower.engine import Patience
from fedsemi.engines.flower.register import Register
from fedsemi.engines.flower.roster import Roster
from fedsemi.engines.flower.simulate import run_on_grid
from fedsemi.errors import FedSemiError, ProtocolError
from fedsemi.experiment import Judge
from fedsemi.printable import typed
from fedsemi.run_folder import RunFolder
from fedsemi.screen import Screen
from fedsemi.session import carry_on
from fedsemi.storage import write_whole

STATUS = "status.json"
LOG = "coordinator.log"

client = client_app(deployed_desk)
"""The ClientApp of every deployed site."""

_TERMS = "submitted.json"


@dataclass(frozen=True)
class Terms:
    """What an operator submitted: a run, and how long to wait for how many sites."""

    config: Mapping[str, object]
    sites: int
    deadline: float
    quorum: float
    join: float

    def offer(self, home: Path) -> None:
        """Leave them for the run that is about to start."""
        write_whole(home / _TERMS, json.dumps(asdict(self)).encode(), private=True)

    @staticmethod
    def withdraw(home: Path) -> None:
        """Forget a run that a coordinator submitted before it was killed."""
        (home / _TERMS).unlink(missing_ok=True)

    @classmethod
    def claim(cls, home: Path, config: Mapping[str, object]) -> Terms:
        """Take the terms of a run; they are there once, for the run submitted last."""
        path = home / _TERMS
        terms = cls(**json.loads(path.read_text("utf-8"))) if path.exists() else None
        if terms is None or terms.config != config:
            raise ProtocolError(
                "a run is refused: it is not the one that this coordinator submitted; "
                "nothing was executed",
                code="FS5022",
            )
        path.unlink()
        return terms


def conduct(grid: Grid, terms: Terms, folder: Path) -> None:
    """Run the plan; leave record, log and status in the coordinator's folder."""
    write_status(folder, os.getpid(), done=False)
    with processes.open_log(folder / LOG) as log:
        handler = logging.StreamHandler(log)
        logger = logging.getLogger("fedsemi")
        logger.setLevel(logging.INFO)
        logger.addHandler(handler)
        try:
            _run(grid, terms, folder, Screen(file=log, width=200))
        except FedSemiError as error:
            write_status(folder, os.getpid(), True, str(error), error.exit_code)
            raise
        except BaseException as error:
            write_status(
                folder, os.getpid(), True, f"FS0000 {type(error).__name__}: {error}", 70
            )
            raise
        write_status(folder, os.getpid(), done=True)


def _run(grid: Grid, terms: Terms, folder: Path, console: Console) -> None:
    blueprint = read_blueprint(str(terms.config["plan"]))
    patience = Patience(terms.deadline, terms.quorum)
    with open_run(folder / "run", blueprint) as record:
        roster = Roster(grid, blueprint, Register(folder))
        roster.wait_for(terms.sites, terms.join)
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


def write_status(
    folder: Path, pid: int, done: bool, error: str | None = None, exit_code: int = 0
) -> None:
    """Note which process works on the run, or how it ended."""
    status = {"pid": pid, "done": done, "error": error, "exit_code": exit_code}
    write_whole(folder / STATUS, json.dumps(status).encode())
