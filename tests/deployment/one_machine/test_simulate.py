from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("flwr")

from fedsemi.deployment.one_machine.simulate import Cluster, run_on_ray
from fedsemi.errors import ConfigError, FedSemiError


def test_a_missing_ray_is_named_with_its_remedy(simulation, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"FS5004 .*Ray.* pip install"):
        run_on_ray(simulation, list)


def test_a_ray_that_does_not_start_is_named_with_its_remedy(simulation, monkeypatch):
    def too_slow(**settings):
        raise TimeoutError("the node\ntimed out during startup")

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=too_slow))
    with pytest.raises(
        FedSemiError,
        match=r"FS5010 Ray did not start \(TimeoutError: the node timed .* leave out",
    ):
        run_on_ray(simulation, list)


def test_a_cluster_is_asked_by_its_address_and_sites_are_dealt_where_it_sees_them(
    simulation, monkeypatch, tmp_path
):
    seen = {}

    def refusing(**settings):
        seen.update(settings, sites=[each.name for each in tmp_path.glob("*/*")])
        raise ConnectionError("nobody there")

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=refusing))
    with pytest.raises(FedSemiError, match=r"FS5010 Ray at 127.0.0.1:9: no answer"):
        run_on_ray(simulation, list, Cluster("127.0.0.1:9", tmp_path))
    assert seen["address"] == "127.0.0.1:9" and "site-0" in seen["sites"]
    # Workers elsewhere inherit nothing: what makes bits equal is handed to them.
    assert seen["runtime_env"]["env_vars"]["OMP_NUM_THREADS"] == "1"
    assert not list(tmp_path.iterdir())


@contextmanager
def ray_cluster():
    """Two machines of one core each, as far as Ray can tell; tells their address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ray = str(Path(sys.executable).with_name("ray"))
    common = [ray, "start", "--num-cpus=1", "--disable-usage-stats", "--block"]
    # A folder of its own: others on this machine do not find and join it.
    folder = tempfile.mkdtemp(prefix="ray-")
    head = ["--head", f"--port={port}", "--include-dashboard=false"]
    head.append(f"--temp-dir={folder}")
    ends = []
    try:
        for words in (head, [f"--address=127.0.0.1:{port}"]):
            end = subprocess.Popen(
                [*common, *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
            ends.append(end)
            assert any("runtime started" in line for line in end.stdout)
        yield f"127.0.0.1:{port}"
    finally:
        for end in reversed(ends):
            os.killpg(end.pid, signal.SIGTERM)
            end.communicate(timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_of_two_machines_gives_the_same_bits(tmp_path):
    changed = ("stages.0.rounds=1", "stages.1.rounds=1", "data.train_limit=300")
    words = ["run", "digits", *(w for each in changed for w in ("--set", each))]

    def bits(*more):
        command = [sys.executable, "-m", "fedsemi", *words, *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return (Path(more[1]) / "model.safetensors").read_bytes()

    here = bits("--out", str(tmp_path / "here"), "--workers", "1")
    with ray_cluster() as address:
        asked = ("--engine", "flower", "--ray-address", address)
        there = bits("--out", str(tmp_path / "there"), *asked)
    assert here == there
