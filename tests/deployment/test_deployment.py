"""Real processes and real TLS on loopback; each run takes most of a minute."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import ssl
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("flwr")

import httpx

from fedsemi.data.site import read_site
from fedsemi.deployment import processes
from fedsemi.deployment.certificates import make_certificates, make_site_key
from fedsemi.deployment.coordinator.coordinator import RUN
from fedsemi.deployment.coordinator.engine import Patience
from fedsemi.deployment.one_machine.trial import running_sites, site_folders
from fedsemi.deployment.site.agreement import Agreement
from fedsemi.deployment.site.egress import read_log
from fedsemi.deployment.site.node import Node
from fedsemi.deployment.site.policy import POLICY, Policy
from fedsemi.engines.in_process import InProcess
from fedsemi.server.stages import Judge, run_stages
from fedsemi.simulation.run import run_simulation
from fedsemi.storage import read_weights
from fedsemi.weights import digest

from . import proxy
from .conftest import tiny
from .real import (
    HOSTS,
    dealt_out,
    killed,
    log_of,
    model_sha256,
    processes_of,
    records_of,
    started,
    until,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
_UNRULY = str(Path(__file__).with_name("unruly_site.py"))


@pytest.fixture(autouse=True)
def no_process_left(tmp_path):
    """Whatever happens in a test, its processes end; all name its folder."""
    yield
    end = time.monotonic() + 20
    while processes_of(tmp_path) and time.monotonic() < end:
        time.sleep(0.2)
    left = processes_of(tmp_path)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, f"left behind: {left}"


def _unruly(mode, folder, server):
    command = Node(folder, server).command()
    command[1:3] = [_UNRULY, mode]  # in place of -m MODULE
    return processes.start("flower-supernode", command, folder / "flower")


@pytest.fixture(scope="module")
def federation(tmp_path_factory):
    """Three sites that stay for several runs, each with a plan of its own."""
    folder = tmp_path_factory.mktemp("federation")
    coordinator, sites, server = dealt_out(tiny(), folder)
    with coordinator.serving(), running_sites(sites, server):
        yield coordinator


@pytest.mark.parametrize("method", ["semianagg", "cbafed", "rscfed"])
def test_a_deployment_gives_the_same_bits_as_this_process(method, federation):
    simulation = tiny(method)
    *_, last = run_simulation(simulation)
    (federation.folder / "plan.json").write_text(simulation.as_json())
    for site in site_folders(federation.folder.parent):
        Agreement(site, simulation, read_site(site)).agree("a test", beyond_bounds=True)
    # The coordinator would not replace the run of the method before.
    shutil.rmtree(federation.folder / RUN, ignore_errors=True)
    federation.submit()
    federation.wait(print)
    assert model_sha256(federation.folder.parent) == digest(last.weights)


def test_resnet18_passes_a_proxy_with_the_same_bits(tmp_path):
    """Eleven million numbers pass the path rule and body limit of the guide."""
    simulation = tiny(
        rounds=1,
        data={"name": "synthetic", "train_limit": 12, "test_limit": 2},
        partition={"num_clients": 3, "min_size": 2},
        model={"name": "resnet18-cifar"},
    )
    *_, last = run_simulation(simulation)
    assert sum(value.numel() for value in last.weights.values()) > 11_000_000
    coordinator, sites, server = dealt_out(simulation, tmp_path)
    keys, port = tmp_path / "coordinator/keys", processes.free_port()
    guard = proxy.Proxy(server, keys / "ca.crt")
    with (
        coordinator.serving(),
        proxy.running(guard, port, keys),
        running_sites(sites, f"127.0.0.1:{port}"),
    ):
        coordinator.submit()
        coordinator.wait(print)
        context = ssl.create_default_context(cafile=keys / "ca.crt")
        control = f"https://127.0.0.1:{port}/v1/control/register-node"
        assert httpx.post(control, verify=context).status_code == 403
    assert model_sha256(tmp_path) == digest(last.weights)
    assert guard.refused == ["/v1/control/register-node"]
    assert 5_000_000 < guard.largest < proxy.MOST_BYTES


def test_a_coordinator_that_was_killed_continues_with_the_same_bits(tmp_path):
    simulation = tiny(rounds=3)
    *_, last = run_simulation(simulation)
    coordinator, sites, server = dealt_out(simulation, tmp_path)
    command = ["server", tmp_path / "coordinator", "--port", coordinator.port]
    with ExitStack() as stack:
        for site in sites:
            stack.enter_context(started("site", "--data", site, "--server", server))
        with started(*command) as process:
            until(lambda: any((tmp_path / "coordinator/run").glob("ckpt-*2*")))
            killed(process, tmp_path / "coordinator")
        assert not (tmp_path / "coordinator/run/summary.json").exists()
        with started(*command) as process:
            said, _ = process.communicate(timeout=600)
    assert process.returncode == 0, said
    assert [record["round"] for record in records_of(tmp_path)] == [1, 1, 2, 3]
    assert model_sha256(tmp_path) == digest(last.weights)


class Partial(InProcess):
    """Leaves out the tasks of clients that a deployment did without."""

    def __init__(self, method, clients, present):
        super().__init__(method, clients)
        self._present = present

    def run(self, tasks):
        return super().run([t for t in tasks if t.client in self._present[t.round]])


def _with_participation_of(folder, simulation):
    """Run the rounds in this process with the clients that took part over there."""
    present: dict[int, list[set[int]]] = {}
    for record in records_of(folder):
        clients = {int(id) for id in record["clients"]}
        present.setdefault(record["stage"], []).append(clients)
    clients = simulation.federation.clients
    *_, last = run_stages(
        simulation, lambda m, stage: Partial(m, clients, present[stage]), Judge()
    )
    return last


def test_a_site_killed_in_a_round_comes_back(tmp_path):
    """Flower lets a killed site in again when its heartbeats have run out."""
    simulation = tiny(rounds=6)
    coordinator, sites, server = dealt_out(simulation, tmp_path, Patience(deadline=150))
    with coordinator.serving(), running_sites(sites[:2], server):
        unruly = _unruly("hang", sites[2], server)
        coordinator.submit()
        done = threading.Thread(target=coordinator.wait, args=[print], daemon=True)
        done.start()
        until(lambda: "hangs now" in log_of(sites[2]))
        os.killpg(unruly.pid, signal.SIGKILL)
        unruly.wait()
        with started("site", "--data", sites[2], "--server", server):
            done.join(600)
    present = [sorted(record["clients"]) for record in records_of(tmp_path)]
    assert len(present) == 7
    assert present[:2] == [["0"], ["0", "1", "2"]]
    assert present[-1] == ["0", "1", "2"], present
    there = _with_participation_of(tmp_path, simulation)
    assert model_sha256(tmp_path) == digest(there.weights)


def test_bad_replies_are_dropped_and_an_honest_one_counts_again(tmp_path):
    """A site sends NaN in a round, forty megabytes in the next, then behaves."""
    coordinator, sites, server = dealt_out(tiny(rounds=3), tmp_path)
    lines: list[str] = []
    with coordinator.serving(), running_sites(sites[:2], server):
        unruly = _unruly("spoil", sites[2], server)
        try:
            coordinator.submit()
            coordinator.wait(lines.append)
        finally:
            processes.stop(unruly)
    present = [sorted(record["clients"]) for record in records_of(tmp_path)]
    assert present == [["0"], ["0", "1"], ["0", "1"], ["0", "1", "2"]]
    assert any("client 2: FS2103" in line for line in lines), lines
    assert any("round 2, site 2: FS2105" in line for line in lines), lines
    model = read_weights(tmp_path / "coordinator/run/model.safetensors")
    assert all(value.isfinite().all() for value in model.values())


def test_a_site_whose_training_dies_does_not_hold_the_others_up(tmp_path):
    """Its SuperNode lives on, so that it is there and never answers with anything."""
    coordinator, sites, server = dealt_out(tiny(rounds=2), tmp_path, Patience(3600))
    lines: list[str] = []
    with coordinator.serving(), running_sites(sites[:2], server):
        unruly = _unruly("die", sites[2], server)
        try:
            coordinator.submit()
            coordinator.wait(lines.append)
        finally:
            processes.stop(unruly)
    records = records_of(tmp_path)
    present = [sorted(record["clients"]) for record in records]
    assert present == [["0"], ["0", "1"], ["0", "1"]]
    dropped = [[each["code"] for each in record["dropped"]] for record in records]
    assert dropped == [[], ["FS5031"], ["FS5031"]], lines
    assert log_of(sites[2]).count("dies now") == 2 * 3


def test_a_site_whose_policy_refuses_the_plan_takes_no_part(tmp_path):
    """Its owner and the coordinator read which line; nothing but that has left it."""
    simulation = tiny(rounds=1)
    coordinator, sites, server = dealt_out(simulation, tmp_path)
    (sites[2] / POLICY).write_text('[answers]\nmethods = ["supervised"]\n')
    coordinator = replace(coordinator, num_sites=2)
    log = coordinator.folder / "coordinator.log"
    with coordinator.serving(), running_sites(sites, server):
        coordinator.submit()
        coordinator.wait(print)
        until(lambda: "FS6101" in log.read_text(), seconds=120)
    line = "stages.1 is of semianagg (answers.methods in site-policy.toml, line 2)"
    assert f"FS6101 this site's policy refuses the plan: {line}" in log.read_text()
    assert line in (sites[2] / "flower/refused.log").read_text()
    present = [sorted(record["clients"]) for record in records_of(tmp_path)]
    assert present == [["0"], ["0", "1"]]
    policies = json.loads((coordinator.folder / "run/manifest.json").read_text())
    assert policies["site_policies"] == {k: Policy().sha256 for k in ("0", "1")}
    left = [{line["field"] for line in read_log(site)} for site in sites]
    assert left[2] == {"failure.code", "failure.reason"}
    assert {"weights", "statistics.diversity", "num_labeled"} <= left[1]
    model = read_weights(coordinator.folder / "run/model.safetensors")
    answers = [line for line in read_log(sites[0]) if line["field"] == "weights"]
    size = sum(v.numel() * v.element_size() for v in model.values())
    assert [line["bytes"] for line in answers] == [size, size]


def test_a_key_cannot_be_another_site(tmp_path):
    """Site 2 says that it is site 0, before that one has come; site 0 joins anyway."""
    coordinator, sites, server = dealt_out(tiny(rounds=1), tmp_path)
    coordinator = replace(coordinator, num_sites=2)
    shutil.copy(sites[0] / "site.json", sites[2] / "site.json")
    shutil.copy(sites[0] / "site.safetensors", sites[2] / "site.safetensors")
    log = coordinator.folder / "coordinator.log"
    with coordinator.serving(), running_sites(sites[2:], server):
        coordinator.submit()
        until(lambda: log.exists() and "FS2125" in log.read_text())
        with running_sites(sites[:2], server):
            coordinator.wait(print)
    said = log.read_text()
    assert "FS2125 site 2 is refused: it says that it is site 0" in said
    assert said.index("FS2125") < said.index("site 0 joined")
    assert [sorted(record["clients"]) for record in records_of(tmp_path)] == [
        ["0"],
        ["0", "1"],
    ]
    counts = json.loads((coordinator.folder / "enrolled/site-1.json").read_text())
    assert counts["num_unlabeled"] > 0 == counts["num_labeled"]


def test_strangers_are_refused(tmp_path):
    coordinator, sites, server = dealt_out(tiny(), tmp_path)
    link = tmp_path / "coordinator"
    other = tmp_path / "other"
    make_certificates(other / "coordinator", [other / "site-0"], HOSTS)
    with coordinator.serving():
        _plaintext_is_refused(coordinator.port)
        assert "activate-node" not in log_of(link, "link")

        shutil.copy(other / "site-0/keys/ca.crt", sites[0] / "keys/ca.crt")
        with started("site", "--data", sites[0], "--server", server) as process:
            said, _ = process.communicate(timeout=120)
        assert process.returncode == 76
        assert "FS5102" in said
        assert "issuer certificate" in said
        node = Node(sites[0], server).start()
        assert node.wait(120) != 0
        processes.stop(node)
        assert "CERTIFICATE_VERIFY_FAILED" in log_of(sites[0])
        assert "activate-node" not in log_of(link, "link")

        make_site_key(sites[1] / "keys" / "site.key")
        greeting = Node(sites[1], server).greet()
        assert greeting is not None and not greeting.enrolled
        node = Node(sites[1], server).start()
        node.wait(120)
        processes.stop(node)
        assert "SuperNode ID" not in log_of(sites[1])
        assert '/v1/fleet/activate-node HTTP/1.1" 401' in log_of(link, "link")


def _plaintext_is_refused(port):
    with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
        plain.sendall(b"POST /v1/fleet/activate-node HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"HTTP" not in plain.recv(100)
