"""What a round costs in this process, through Flower's records, and over TLS."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.common import Section
from fedsemi.cli.deployment import deal_out
from fedsemi.config.experiment import make_experiment
from fedsemi.deployment.one_machine.simulate import run_on_loopback
from fedsemi.deployment.one_machine.trial import run_trial
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
        rows.append([name, f"{numbers:,}", *rounds, rest])
    return Section(
        "Rounds over a network",
        "SemiAnAgg on three sites; all processes of the deployment share this machine. "
        "The last column is what starting, joining, the first round and stopping take "
        "beyond a usual round.",
        ["network", "numbers", "in this process", "loopback grid", "TLS", "start-up"],
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


def _usual(seconds: list[float]) -> float:
    return statistics.median(seconds[1:])
