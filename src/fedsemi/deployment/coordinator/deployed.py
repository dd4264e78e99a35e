"""The coordinator's run: the terms that it was submitted on, and its course."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from flwr.serverapp import Grid
from rich.console import Console

from fedsemi.config.blueprint import Blueprint, read_blueprint
from fedsemi.data.site import read_test_set
from fedsemi.deployment import processes
from fedsemi.deployment.coordinator.engine import Patience
from fedsemi.deployment.coordinator.on_grid import run_on_grid
from fedsemi.deployment.coordinator.register import Register
from fedsemi.deployment.coordinator.roster import Roster
from fedsemi.errors import FedSemiError, ProtocolError
from fedsemi.noise import secret_of
from fedsemi.runs.folder import RunFolder
from fedsemi.server.stages import Judge
from fedsemi.storage import write_whole
from fedsemi.text.printable import typed
from fedsemi.text.screen import Screen
from fedsemi.use.session import record_run

STATUS = "status.json"
LOG = "coordinator.log"

_TERMS = "submitted.json"
_POLICIES = "site_policies"
"""Where the manifest has the hash of each site's policy."""


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


def run_plan(grid: Grid, terms: Terms, folder: Path) -> None:
    """Run the plan; leave record, log and status in the coordinator's folder."""
    write_status(folder, os.getpid(), done=False)
    with processes.open_log(folder / LOG) as log:
        handler = logging.StreamHandler(log)
        logger = logging.getLogger("fedsemi")
        logger.setLevel(logging.INFO)
        logger.addHandler(handler)
        try:
            blueprint = read_blueprint(str(terms.config["plan"]))
            screen = Screen(file=log, width=200)
            run_recorded(grid, blueprint, terms, folder, Register(folder), screen)
        except FedSemiError as error:
            write_status(folder, os.getpid(), True, str(error), error.exit_code)
            raise
        except BaseException as error:
            write_status(
                folder, os.getpid(), True, f"FS0000 {type(error).__name__}: {error}", 70
            )
            raise
        write_status(folder, os.getpid(), done=True)


def run_recorded(
    grid: Grid,
    blueprint: Blueprint,
    terms: Terms,
    folder: Path,
    register: Register,
    console: Console,
) -> None:
    """Run a plan on the sites of a register; leave its record in the folder `run`."""
    patience = Patience(terms.deadline, terms.quorum)
    with open_run(folder / "run", blueprint) as record:
        roster = Roster(grid, blueprint, register)
        roster.wait_for(terms.sites, terms.join)
        test = read_test_set(folder)
        judge = Judge(test)
        record.note(_POLICIES, roster.policies)
        noise = blueprint.experiment.privacy.noise_multiplier
        secret = secret_of(folder, blueprint.sha256) if noise else None
        steps = run_on_grid(
            grid, blueprint, judge, roster, patience, record.start, secret
        )
        try:
            record_run(record, blueprint, steps, "federation", console, test=test)
        finally:
            record.note(_POLICIES, roster.policies)  # some may have come since


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
