"""What a round costs here, through Flower's records and over TLS; what waiting does."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.common import Section, against
from benchmarks.idle import processor_share
from fedsemi.cli.deployment import deal_out
from fedsemi.config.experiment import make_experiment
from fedsemi.deployment import processes
from fedsemi.deployment.certificates import make_certificates
from fedsemi.deployment.coordinator.coordinator import Coordinator
from fedsemi.deployment.one_machine.simulate import run_on_loopback
from fedsemi.deployment.one_machine.trial import (
    run_trial,
    running_sites,
    site_folders,
)
from fedsemi.runs.folder import METRICS
from fedsemi.runs.reading import read_records
from fedsemi.runs.records import Step
from fedsemi.simulation.build import Simulation, build
from fedsemi.simulation.run import run_simulation

_NETWORKS: dict[str, tuple[dict[str, Any], int]] = {
    "ResNet-8, width 4": ({"name": "resnet8", "width": 4}, 60),
    "ResNet-18": ({"name": "resnet18-cifar"}, 12),
}
_ROUNDS = 4
_AIMED = "ResNet-8, width 4"
_AIM, _IDLE_AIM = 1.0, 0.01
_CONNECT = 20.0
"""Seconds in which sites import torch and connect."""


def deployment(times: int) -> Section:
    """Seconds a round, the first left out, on three sites with a handful of images."""
    rows = []
    for name, (model, images) in _NETWORKS.items():
        simulation = _simulation(model, images)
        numbers = sum(w.numel() for w in simulation.initial_weights().values())
        here = _seconds(run_simulation(simulation))
        loopback = _seconds(run_on_loopback(simulation))
        there, total = _over_tls(simulation)
        rounds = [f"{seconds:.2f} s" for seconds in (here, loopback, there)]
        rest = f"{total - _ROUNDS * there:.0f} s"
        met = against(there, _AIM, "{:.1f} s")[1:] if name == _AIMED else ["", ""]
        rows.append([name, f"{numbers:,}", *rounds[:2], rest, rounds[2], *met])
    idle = _idle(_simulation(*_NETWORKS[next(iter(_NETWORKS))]))
    shown, *met = against(idle, _IDLE_AIM, "{:.2%}")
    rows.append(["a site that waits, part of a core", *[""] * 4, shown, *met])
    return Section(
        "Rounds over a network",
        "SemiAnAgg on three sites; all processes of the deployment share this machine. "
        "Start-up is what starting, joining, the first round and stopping take "
        "beyond a usual round. A site that waits is connected, between two runs.",
        [
            "network",
            "numbers",
            "in this process",
            "loopback grid",
            "start-up",
            "TLS, or waiting",
            "aim",
            "",
        ],
        rows,
    )


def _simulation(model: dict[str, Any], images: int) -> Simulation:
    content = {
        "seed": 1,
        "data": {"name": "synthetic", "train_limit": images, "test_limit": 2},
        "partition": {"num_clients": 3, "min_size": 2},
        "model": model,
        "local": {"batch_size": 16},
        "stages": [{"method": "semianagg", "rounds": _ROUNDS}],
    }
    return build(make_experiment(content))


def _seconds(steps: Iterable[Step]) -> float:
    return _usual([step.record.seconds for step in steps])


def _over_tls(simulation: Simulation) -> tuple[float, float]:
    with tempfile.TemporaryDirectory(prefix="fedsemi-bench-") as name:
        folder = Path(name)
        started = time.perf_counter()
        deal_out(simulation, folder)
        run_trial(folder, print)
        total = time.perf_counter() - started
        rounds = read_records(folder / "coordinator" / "run" / METRICS)
        return _usual([each.seconds for each in rounds]), total


def _idle(simulation: Simulation) -> float:
    """Let three sites wait at a coordinator that has no run for them."""
    with tempfile.TemporaryDirectory(prefix="fedsemi-bench-") as name:
        folder = Path(name)
        deal_out(simulation, folder)
        sites = site_folders(folder)
        make_certificates(folder / "coordinator", sites, ("127.0.0.1",))
        port = processes.free_port()
        coordinator = Coordinator(folder / "coordinator", port=port)
        with coordinator.serving(), running_sites(sites, f"127.0.0.1:{port}") as nodes:
            time.sleep(_CONNECT)
            return processor_share([node.pid for node in nodes])


def _usual(seconds: list[float]) -> float:
    return statistics.median(seconds[1:])
