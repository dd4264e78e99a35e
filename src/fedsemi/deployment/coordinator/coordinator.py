"""The coordinator: a SuperLink behind our front, a conductor, and one run on them."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flwr.supercore.primitives.asymmetric import public_key_to_bytes

from fedsemi.config.blueprint import Blueprint, read_blueprint
from fedsemi.deployment import processes
from fedsemi.deployment.bundle import delete_bundles, make_bundle
from fedsemi.deployment.certificates import CA, SERVER, SERVER_KEY
from fedsemi.deployment.coordinator.deployed import LOG, STATUS, Terms, write_status
from fedsemi.deployment.coordinator.door import Door
from fedsemi.deployment.coordinator.engine import PATIENCE, Patience
from fedsemi.deployment.coordinator.members import Members
from fedsemi.deployment.coordinator.register import read_enrolled
from fedsemi.errors import CannotCreate, ConfigError, FedSemiError
from fedsemi.storage import make_folder
from fedsemi.text.printable import typed

PLAN = "plan.json"
RUN = "run"
_START_SECONDS = 120
_END_SECONDS = 10


@dataclass
class Coordinator:
    """Where the coordinator's files lie, where it listens and how long it waits."""

    folder: Path
    host: str = "127.0.0.1"
    port: int = 9092
    num_sites: int = 0
    """Sites to wait for; as many as are enrolled if 0."""
    patience: Patience = PATIENCE
    join_seconds: float = 600.0
    _conductor: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def home(self) -> Path:
        """Where Flower keeps its own files."""
        return self.folder.absolute() / "flower"

    def run(self, show: Callable[[str], None]) -> None:
        """Serve, enroll the sites, run the plan to its end, and stop."""
        with self.serving():
            self.submit()
            self.wait(show)

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Serve the sites that are enrolled, and carry out runs, for a while."""
        enrolled = read_enrolled(self.folder)  # a mistake is told before anything runs
        with self.linking() as door:
            for key in enrolled.values():
                door.enroll(public_key_to_bytes(key))
            self._conductor = self._start("conductor", str(self.folder.absolute()))
            try:
                yield
            finally:
                processes.stop(self._conductor)

    @contextmanager
    def linking(self) -> Iterator[Door]:
        """Keep a SuperLink running for a while; nobody carries out runs yet."""
        keys = self.folder.absolute() / "keys"
        for name in (CA, SERVER, SERVER_KEY):
            if not (keys / name).exists():
                again = typed("fedsemi", "certificates", self.folder.parent)
                raise ConfigError(
                    f"'{keys / name}' is missing; make it with `{again} --host NAME`, "
                    "or put there what your own authority signed",
                    code="FS5005",
                )
        if processes.is_open(self._contact, self.port):
            raise ConfigError(
                f"port {self.port} is taken; choose another one with --port",
                code="FS5006",
            )
        delete_bundles(make_folder(self.home, private=True))
        Terms.withdraw(self.home)
        door = Door.make(self.folder, self.home, processes.free_port())
        folder, port = str(self.folder.absolute()), str(self.port)
        link = self._start("link", folder, self.host, port)
        try:
            self._await(link)
            yield door
        finally:
            processes.stop(link)

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        program = [sys.executable, "-m", f"fedsemi.deployment.coordinator.{module}"]
        return processes.start(module, [*program, *arguments], self.home)

    def _await(self, link: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + _START_SECONDS
        while not processes.is_open(self._contact, self.port):
            if link.poll() is not None or time.monotonic() > end:
                raise FedSemiError(
                    f"Flower's SuperLink did not start; see {self.home / 'link.log'}",
                    code="FS5007",
                )
            time.sleep(0.2)

    def submit(self) -> None:
        """Hand the plan to the SuperLink; the conductor carries it out."""
        blueprint = self._plan()
        config = {"plan": blueprint.as_json(), "ticket": secrets.token_hex(16)}
        away = Members(self.folder).absent()
        sites = self.num_sites or len(read_enrolled(self.folder).keys() - away.keys())
        deadline, quorum = float(self.patience.deadline), float(self.patience.quorum)
        terms = Terms(config, sites, deadline, quorum, float(self.join_seconds))
        self._outlive_predecessor()
        if self._conductor:
            write_status(self.folder, self._conductor.pid, done=False)
        terms.offer(self.home)
        Door.read(self.folder, self.home).start_run(make_bundle(), config)

    def _plan(self) -> Blueprint:
        """Read the plan, if it can be trained here and now."""
        plan = self.folder / PLAN
        if not plan.exists():
            raise ConfigError(
                f"'{plan}' is missing; write it with `fedsemi deal`", code="FS4001"
            )
        if (self.folder / RUN / "summary.json").exists():
            raise CannotCreate(
                f"'{self.folder / RUN}' holds a finished run; move it away to train "
                "again",
                code="FS1402",
            )
        blueprint = read_blueprint(plan.read_bytes())
        if blueprint.experiment.alarms.action != "warn":
            raise ConfigError(
                "the coordinator has no held-out images to try a mean on, so that "
                "alarms.action must be 'warn'; change it and deal out again",
                code="FS4111",
            )
        return blueprint

    def _outlive_predecessor(self) -> None:
        """Wait until the run of a coordinator that was killed has ended too."""
        status = self.folder / STATUS
        if status.exists():
            pid = json.loads(status.read_text("utf-8"))["pid"]
            end = time.monotonic() + _END_SECONDS
            while processes.is_alive(pid) and time.monotonic() < end:
                time.sleep(0.2)
            status.unlink()

    @property
    def _contact(self) -> str:
        return "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host

    def wait(self, show: Callable[[str], None]) -> None:
        """Show the log as it grows until the run is over."""
        log = processes.Follower(self.folder / LOG)
        status: dict[str, Any] = {}
        while not status.get("done"):
            time.sleep(0.5)
            status = self._status()
            for line in log.lines():
                show(line)
        if status["error"]:
            code, _, message = str(status["error"]).partition(" ")
            error = FedSemiError(message, code=code)
            error.exit_code = int(status["exit_code"])
            raise error

    def _status(self) -> dict[str, Any]:
        path = self.folder / STATUS
        if not path.exists():
            return {}
        status: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if not status["done"] and not processes.is_alive(status["pid"]):
            raise FedSemiError(
                "the run ended without a word; see "
                f"{self.home / 'conductor.log'}, then continue with "
                f"`{typed('fedsemi', 'server', self.folder)}`",
                code="FS5008",
            )
        return status


def forget(folder: Path) -> None:
    """Remove what an earlier run of a coordinator left behind."""
    shutil.rmtree(folder / "flower", ignore_errors=True)
    for name in (LOG, STATUS):
        if (folder / name).exists():
            os.unlink(folder / name)
