"""Real processes, real TLS, on loopback. Slow: every message starts a Python."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import threading
import time

import pytest

pytest.importorskip("flwr")

from fedsemi.cli.federation import deal_out
from fedsemi.engines.flower import processes
from fedsemi.engines.flower.certificates import make_certificates, make_site_key
from fedsemi.engines.flower.coordinator import Coordinator
from fedsemi.engines.flower.node import Node
from fedsemi.engines.flower.trial import running_sites, site_folders
from fedsemi.experiment import conduct
from fedsemi.methods import METHODS
from fedsemi.weights import digest

from .conftest import tiny

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]
_HOSTS = ["127.0.0.1", "localhost"]


def _deal(simulation, folder):
    deal_out(simulation, folder)
    sites = site_folders(folder)
    make_certificates(folder / "coordinator", sites, _HOSTS)
    coordinator = Coordinator(folder / "coordinator", port=processes.free_port())
    return coordinator, sites, f"127.0.0.1:{coordinator.port}"


def _digest(folder):
    summary = json.loads((folder / "coordinator/run/summary.json").read_text())
    return summary["model_sha256"]


def _log(folder, name):
    path = folder / "flower" / f"{name}.log"
    return path.read_text() if path.exists() else ""


def _until(holds, seconds=300.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "this did not happen in time"
        time.sleep(0.2)


@pytest.mark.parametrize("method", ["semianagg", "cbafed", "rscfed"])
def test_a_deployment_gives_the_same_bits_as_this_process(method, tmp_path):
    assert method in METHODS
    simulation = tiny(method)
    *_, last = conduct(simulation)
    coordinator, sites, server = _deal(simulation, tmp_path)
    with coordinator.serving(), running_sites(sites, server):
        coordinator.submit()
        coordinator.wait(print)
    assert _digest(tmp_path) == digest(last.weights)


def test_a_coordinator_that_was_killed_continues_with_the_same_bits(tmp_path):
    simulation = tiny(rounds=3)
    *_, last = conduct(simulation)
    coordinator, sites, server = _deal(simulation, tmp_path)
    run = tmp_path / "coordinator/run"
    with coordinator.serving():
        nodes = running_sites(sites, server)
        nodes.__enter__()
        coordinator.submit()
        _until(lambda: any(run.glob("ckpt-*2*")))
        status = json.loads((tmp_path / "coordinator/status.json").read_text())
        os.kill(status["pid"], signal.SIGKILL)
    try:
        with coordinator.serving():
            coordinator.submit()
            coordinator.wait(print)
    finally:
        nodes.__exit__(None, None, None)
    assert _digest(tmp_path) == digest(last.weights)


def test_a_site_killed_in_a_round_comes_back(tmp_path):
    simulation = tiny(rounds=2)
    coordinator, sites, server = _deal(simulation, tmp_path)
    lines: list[str] = []
    with coordinator.serving(), running_sites(sites, server) as nodes:
        coordinator.submit()
        done = threading.Thread(target=coordinator.wait, args=[lines.append])
        done.start()
        _until(lambda: "train message" in _log(sites[2], "flower-supernode"))
        os.killpg(nodes[2].pid, signal.SIGKILL)
        nodes[2].wait()
        nodes[2] = Node(sites[2], server).start()
        done.join(900)
        processes.stop(nodes[2])
    records = (tmp_path / "coordinator/run/metrics.jsonl").read_text().splitlines()
    assert len(records) == 3
    assert "2" in json.loads(records[-1])["clients"]


def test_a_site_with_a_key_that_is_not_enrolled_is_refused(tmp_path):
    coordinator, sites, server = _deal(tiny(), tmp_path)
    make_site_key(sites[0] / "keys" / "site.key")
    with coordinator.serving():
        stranger = Node(sites[0], server).start()
        assert stranger.wait(120) != 0
        processes.stop(stranger)
    assert "Failed to activate SuperNode" in _log(sites[0], "flower-supernode")


def test_plaintext_and_a_foreign_certificate_authority_are_refused(tmp_path):
    coordinator, sites, server = _deal(tiny(), tmp_path)
    other = tmp_path / "other"
    make_certificates(other / "coordinator", [other / "site-0"], _HOSTS)
    shutil.copy(other / "site-0/keys/ca.crt", sites[0] / "keys/ca.crt")
    with coordinator.serving():
        with socket.create_connection(("127.0.0.1", coordinator.port)) as plain:
            plain.sendall(b"POST /v1/fleet/activate-node HTTP/1.1\r\n\r\n")
            plain.settimeout(10)
            assert b"200" not in plain.recv(100)
        stranger = Node(sites[0], server).start()
        _until(lambda: "attempt failed" in _log(sites[0], "flower-supernode"), 60)
        processes.stop(stranger)
    link = _log(tmp_path / "coordinator", "flower-superlink")
    assert "activate-node" not in link
