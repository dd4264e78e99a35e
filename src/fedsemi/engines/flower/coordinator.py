"""The coordinator: a SuperLink with TLS and node authentication, and one run on it."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedsemi.blueprint import read_blueprint
from fedsemi.engines.flower import processes
from fedsemi.engines.flower.certificates import CA, SERVER, SERVER_KEY
from fedsemi.engines.flower.deployed import LOG, STATUS
from fedsemi.engines.flower.engine import PATIENCE, Patience
from fedsemi.errors import CannotCreate, ConfigError, FedSemiError
from fedsemi.printable import typed
from fedsemi.storage import make_folder, write_whole

PLAN = "plan.json"
RUN = "run"
_START_SECONDS = 120
_END_SECONDS = 10
_APP = """\
[project]
name = "fedsemi-federation"
version = "1.0.0"
description = "Carries a fedsemi plan to the sites; the code is installed there."
license = "Apache-2.0"
dependencies = []

[tool.flwr.app]
publisher = "fedsemi"

[tool.flwr.app.components]
serverapp = "fedsemi_app:server"
clientapp = "fedsemi_app:client"

[tool.flwr.app.config]
plan = {plan}
folder = {folder}
sites = {sites}
deadline = {deadline}
quorum = {quorum}
join = {join}
"""
_APP_CODE = '''\
"""What a SuperNode runs: the apps of the fedsemi that is installed at the site."""

from fedsemi.engines.flower.deployed import client, server

__all__ = ["client", "server"]
'''


@dataclass(frozen=True)
class Coordinator:
    """Where the coordinator's files lie, where it listens and how long it waits."""

    folder: Path
    host: str = "127.0.0.1"
    port: int = 9092
    num_sites: int = 0
    """Sites to wait for; as many as are enrolled if 0."""
    patience: Patience = PATIENCE
    join_seconds: float = 600.0

    @property
    def home(self) -> Path:
        """Where Flower keeps its own files."""
        return self.folder.absolute() / "flower"

    def run(self, show: Callable[[str], None]) -> None:
        """Serve, enrol the sites, run the plan to its end, and stop."""
        with self.serving():
            self.submit()
            self.wait(show)

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Keep a SuperLink running for a while, with the sites enrolled."""
        keys = self.folder.absolute() / "keys"
        for name in (CA, SERVER, SERVER_KEY):
            if not (keys / name).exists():
                raise ConfigError(
                    f"'{keys / name}' is missing; make it with `fedsemi certificates`",
                    code="FS5005",
                )
        if processes.is_open(self._contact, self.port):
            raise ConfigError(
                f"port {self.port} is taken; choose another one with --port",
                code="FS5006",
            )
        link = processes.start(
            "flower-superlink",
            [
                processes.program("flower-superlink"),
                f"--host={self.host}",
                f"--port={self.port}",
                f"--ssl-ca-certfile={keys / CA}",
                f"--ssl-certfile={keys / SERVER}",
                f"--ssl-keyfile={keys / SERVER_KEY}",
                f"--database={make_folder(self.home) / 'state.db'}",
                "--enable-supernode-auth",
                "--disable-runtime-dependency-installation",
            ],
            self.home,
        )
        try:
            end = time.monotonic() + _START_SECONDS
            while not processes.is_open(self._contact, self.port):
                if link.poll() is not None or time.monotonic() > end:
                    raise FedSemiError(
                        "Flower's SuperLink did not start; see "
                        f"{self.home / 'flower-superlink.log'}",
                        code="FS5007",
                    )
                time.sleep(0.2)
            self._write_connection(keys / CA)
            self._enroll()
            yield
        finally:
            processes.stop(link)

    def _enroll(self) -> None:
        """Let in the sites whose public keys lie in `enrolled`."""
        for key in self._enrolled():
            try:
                processes.call(
                    "flwr", ["supernode", "register", str(key), "fedsemi"], self.home
                )
            except FedSemiError as error:
                # A coordinator that starts again finds its sites enrolled.
                if "already" not in str(error):
                    raise

    def submit(self) -> None:
        """Hand the plan to Flower, which starts the ServerApp."""
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
        app = make_folder(self.home / "app")
        settings = _APP.format(
            plan=json.dumps(blueprint.as_json()),
            folder=json.dumps(str(self.folder.absolute())),
            sites=self.num_sites or len(self._enrolled()),
            deadline=float(self.patience.deadline),
            quorum=float(self.patience.quorum),
            join=float(self.join_seconds),
        )
        write_whole(app / "pyproject.toml", settings.encode())
        write_whole(app / "fedsemi_app.py", _APP_CODE.encode())
        self._outlive_predecessor()
        processes.call("flwr", ["run", str(app), "fedsemi"], self.home)

    def _outlive_predecessor(self) -> None:
        """Wait until the ServerApp of a coordinator that was killed has ended too."""
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

    def _enrolled(self) -> list[Path]:
        return sorted((self.folder / "enrolled").glob("*.pub"))

    def _write_connection(self, ca: Path) -> None:
        connection = (
            "[superlink]\ndefault = 'fedsemi'\n\n[superlink.fedsemi]\n"
            f"address = '{self._contact}:{self.port}'\nroot-certificates = '{ca}'\n"
        )
        write_whole(self.home / "config.toml", connection.encode())

    def wait(self, show: Callable[[str], None]) -> None:
        """Show the log as it grows until the run is over."""
        log = self.folder / LOG
        seen = log.stat().st_size if log.exists() else 0
        status: dict[str, Any] = {}
        while not status.get("done"):
            time.sleep(0.5)
            status = self._status()
            if log.exists():
                with log.open("rb") as file:
                    file.seek(seen)
                    text = file.read()
                seen += len(text)
                for line in text.decode(errors="replace").splitlines():
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
                "the ServerApp ended without a word; see "
                f"{self.home / 'flower-superlink.log'}, then continue with "
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
