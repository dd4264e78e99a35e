"""The attack itself: who has only ca.crt, or is a local user, tries to run code.

Real processes, real TLS on loopback, and Flower's own `flwr run` as the weapon.
"""

from __future__ import annotations

import os
import ssl
import subprocess
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

pytest.importorskip("flwr")

import httpx
from flwr.app import ConfigRecord, Message, RecordDict
from flwr.cli.build import build_fab_from_disk
from flwr.common.serde import run_from_proto
from flwr.proto.runtime_pb2 import AcquireTaskRequest, PullTaskInputRequest
from flwr.supercore.constant import TaskType
from flwr.supercore.primitives.asymmetric import public_key_to_bytes
from flwr.supercore.task_identity import TaskIdentity

from fedsemi.deployment import processes
from fedsemi.deployment.coordinator.door import Door, OperatorGrid
from fedsemi.deployment.coordinator.front import FLEET, HELLO, OPERATOR
from fedsemi.deployment.coordinator.register import read_enrolled
from fedsemi.deployment.folding import unfolded
from fedsemi.deployment.one_machine.trial import running_sites
from fedsemi.deployment.site.node import REFUSALS
from fedsemi.deployment.tasks import heartbeats
from fedsemi.simulation.run import run_simulation
from fedsemi.weights import digest

from .conftest import tiny
from .real import dealt_out, log_of, model_sha256, until
from .test_deployment import no_process_left

__all__ = ["no_process_left"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.filterwarnings("ignore:GitWildMatch"),
]

_EVIL = """\
import os, pathlib
from flwr.app import Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import ServerApp

def mark(what):
    stolen = [p.read_text()[:40] for p in pathlib.Path({folder!r}).rglob("*.key")]
    pathlib.Path({marks!r}, f"{{what}}-{{os.getpid()}}").write_text(repr(stolen))

mark("imported")
server = ServerApp()
client = ClientApp()

@server.main()
def main(grid, context):
    mark("server")
    grid.send_and_receive([
        Message(RecordDict(), node, kind)
        for node in grid.get_node_ids() for kind in ("query", "train")
    ])

@client.query()
def query(message, context):
    mark("client")
    return Message(RecordDict(), reply_to=message)

@client.train()
def train(message, context):
    mark("client")
    return Message(RecordDict(), reply_to=message)
"""
_PROJECT = """\
[project]
name = "evil"
version = "1.0.0"
license = "Apache-2.0"
dependencies = []
[tool.flwr.app]
publisher = "evil"
[tool.flwr.app.components]
serverapp = "evil:server"
clientapp = "evil:client"
[tool.flwr.app.config]
"""


class Attacker:
    """Has an app that steals keys, `flwr`, and the public certificate of the CA."""

    def __init__(self, folder: Path, ca: Path) -> None:
        self.app, self.home = folder / "attacker/evil", folder / "attacker/home"
        self._ca, self._marks = ca, folder / "attacker/marks"
        for path in (self.app, self.home, self._marks):
            path.mkdir(parents=True)
        code = _EVIL.format(folder=str(folder), marks=str(self._marks))
        (self.app / "evil.py").write_text(code)
        (self.app / "pyproject.toml").write_text(_PROJECT)

    def executed(self) -> set[str]:
        """Tell which parts of the app were executed somewhere."""
        return {path.name.partition("-")[0] for path in self._marks.iterdir()}

    def run(self, port: int) -> subprocess.CompletedProcess[str]:
        """Start a run with Flower's own command."""
        (self.home / "config.toml").write_text(
            "[superlink]\ndefault = 'victim'\n[superlink.victim]\n"
            f"address = '127.0.0.1:{port}'\nroot-certificates = '{self._ca}'\n"
        )
        return subprocess.run(
            [processes.program("flwr"), "run", str(self.app), "victim"],
            env=processes.environment(self.home),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def ask(self, port: int, path: str, method: str = "POST") -> int:
        """Try a route without a credential."""
        context = ssl.create_default_context(cafile=self._ca)
        url = f"https://127.0.0.1:{port}{path}"
        return httpx.request(method, url, verify=context, timeout=60).status_code


@contextmanager
def _flower_alone(keys: Path, home: Path):
    """Flower's own SuperLink, as the project ran it before it was locked."""
    port = processes.free_port()
    command = [
        processes.program("flower-superlink"),
        "--host=127.0.0.1",
        f"--port={port}",
        f"--ssl-ca-certfile={keys / 'ca.crt'}",
        f"--ssl-certfile={keys / 'server.crt'}",
        f"--ssl-keyfile={keys / 'server.key'}",
        "--enable-supernode-auth",
        "--disable-runtime-dependency-installation",
    ]
    link = processes.start("flower-superlink", command, home)
    try:
        until(lambda: processes.is_open("127.0.0.1", port))
        yield port
    finally:
        processes.stop(link)


def test_the_attack_works_where_nothing_is_locked(tmp_path):
    """Otherwise the tests below would prove nothing."""
    coordinator, sites, _ = dealt_out(tiny(), tmp_path)
    attacker = Attacker(tmp_path, sites[0] / "keys/ca.crt")
    keys = coordinator.folder / "keys"
    with _flower_alone(keys, tmp_path / "alone") as port:
        done = attacker.run(port)
        assert done.returncode == 0, done.stderr[-1500:]
        until(lambda: {"imported", "server"} <= attacker.executed())


def test_nobody_gets_in_during_a_live_federation(tmp_path):
    simulation = tiny(rounds=2)
    *_, last = run_simulation(simulation)
    coordinator, sites, server = dealt_out(simulation, tmp_path)
    attacker = Attacker(tmp_path, sites[0] / "keys/ca.crt")
    lines: list[str] = []
    with coordinator.serving(), running_sites(sites, server):
        coordinator.submit()
        door = Door.read(coordinator.folder, coordinator.home)
        # From outside, and as a local user who has found the private port.
        for port, refusal in ((coordinator.port, "403"), (door.port, "401")):
            done = attacker.run(port)
            assert done.returncode != 0, done.stdout
            assert "Successfully started" not in done.stdout + done.stderr
            assert refusal in log_of(coordinator.folder, "link")
        for path in OPERATOR | {"/health", "/docs", "/v1/control/list-runs"}:
            assert attacker.ask(coordinator.port, path) == 403
            assert attacker.ask(door.port, path) == 401
        for path in FLEET:
            assert attacker.ask(coordinator.port, path) == 401
            assert attacker.ask(door.port, path) == 401
        assert attacker.ask(coordinator.port, "/openapi.json", "GET") == 403
        assert attacker.ask(door.port, HELLO) == 401
        # Even with the operator's secret a run brings no code.
        run = door.start_run(build_fab_from_disk(attacker.app), {})
        coordinator.wait(lines.append)
        until(
            lambda: (
                f"run {run}: FS5021"
                in (coordinator.folder / "coordinator.log").read_text()
            )
        )
    assert attacker.executed() == set()
    assert model_sha256(tmp_path) == digest(last.weights)
    assert not list(tmp_path.glob("*/flower/apps"))


def _rogue_grid(door: Door, bundle: bytes) -> OperatorGrid:
    """Take the place of the conductor for a run with a foreign bundle."""
    door.start_run(bundle, {})
    with closing(door.tasks()) as tasks:
        wanted = AcquireTaskRequest(supported_task_types=[TaskType.SERVER_APP])
        token = tasks.AcquireTask(wanted).token
    grid = OperatorGrid(door, token)
    found = grid.runtime.PullTaskInput(PullTaskInputRequest())
    TaskIdentity.task_id, TaskIdentity.run_id = found.task_id, found.run.run_id
    TaskIdentity.node_id = found.context.node_id
    grid.set_run(run_from_proto(found.run))
    return grid


def test_a_coordinator_that_was_taken_over_runs_no_code_at_the_sites(tmp_path):
    """It sends its own bundle and its own messages; the sites answer with refusals."""
    coordinator, sites, server = dealt_out(tiny(), tmp_path)
    attacker = Attacker(tmp_path, sites[0] / "keys/ca.crt")
    old = sites[0] / "flower/apps/evil.evil.1.0.0.deadbeef"
    old.mkdir(parents=True)
    with coordinator.linking() as door, running_sites(sites, server):
        for key in read_enrolled(coordinator.folder).values():
            door.enroll(public_key_to_bytes(key))
        grid = _rogue_grid(door, build_fab_from_disk(attacker.app))
        with closing(grid), heartbeats(grid.runtime):
            until(lambda: len(list(grid.get_node_ids())) == 3)
            content = RecordDict({"query": ConfigRecord({"v": 1})})
            sent = set()
            for node in grid.get_node_ids():
                for kind in ("query", "train"):
                    message = Message(content, node, kind, ttl=300)
                    sent |= set(grid.push_messages([message]))
            replies: list[Message] = []
            while sent:
                for reply in grid.pull_messages(sent):
                    sent.discard(reply.metadata.reply_to_message_id)
                    replies.append(reply)
                time.sleep(0.5)
    assert len(replies) == 6
    for reply in replies:
        assert not reply.has_error(), reply.error
        assert unfolded(reply.content)["failure"]["code"] == "FS5021"
    for site in sites:
        # Once for the run, however often it asks.
        assert (site / "flower" / REFUSALS).read_text().count("FS5021") == 1
    assert attacker.executed() == set()
    assert not list(tmp_path.glob("*/flower/apps"))
    assert os.listdir(attacker.home) == []
