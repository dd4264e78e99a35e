"""What masks do to accuracy: they add in fixed point, where a plain run has floats."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from benchmarks.common import ROOT, Section
from fedsemi.config.experiment import load_config, make_experiment
from fedsemi.engines.in_process import one_thread
from fedsemi.messages import Weights
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation
from fedsemi.storage import write_weights

SEEDS = (1, 2, 3)
ROUNDS = 10
_MASKED = {"masked": True, "plain_warm_up": True}
_CASES: dict[str, tuple[str, dict[str, Any], bool]] = {
    "semianagg, plain": ("semianagg", {}, False),
    "last bit": ("semianagg", {}, True),
    "semianagg, masked": ("semianagg", _MASKED, False),
    "fedavg-semi, plain": ("fedavg-semi", {}, False),
    "fedavg-semi, masked": ("fedavg-semi", _MASKED, False),
}
"""By column: the method, settings of privacy, and whether the start is off by a bit."""


def masked(times: int) -> Section:
    """Train plain and masked from the same warm-up."""
    rows = []
    images = 0
    with TemporaryDirectory() as folder, one_thread():
        for seed in SEEDS:
            content = _content(seed)
            stages = content.pop("stages")
            (*_, last), images = _trained({**content, "stages": stages[:1]})
            scores = []
            for method, privacy, off in _CASES.values():
                start = Path(folder) / "start.safetensors"
                write_weights(start, _next(last.weights) if off else last.weights)
                stage = {"method": method, "rounds": ROUNDS}
                case = {"start": str(start), "stages": [stage], "privacy": privacy}
                (*_, end), images = _trained(content | case)
                assert end.record.test is not None, "the last round is tested"
                scores.append(f"{end.record.test.accuracy:.2%}")
            rows.append([str(seed), *scores])
    text = (
        f"The config `benchmarks/attacks.toml` with ten sites, {ROUNDS} rounds after "
        f"its warm-up; accuracy of the last round on {images} test images. Last bit: "
        "the plain run from a start whose weights are off by their last bit."
    )
    return Section("Accuracy under masks", text, ["seed", *_CASES], rows)


def _content(seed: int) -> dict[str, Any]:
    config = ROOT / "benchmarks" / "attacks.toml"
    given = load_config(config, [f"seed={seed}", "partition.num_clients=10"])
    return given.model_dump(mode="json", exclude_none=True)


def _trained(content: dict[str, Any]) -> tuple[Any, int]:
    simulation = build(make_experiment(content))
    return run_simulation(simulation), len(simulation.federation.test)


def _next(weights: Weights) -> Weights:
    """Change every weight by its last bit."""
    return {
        k: v.nextafter(torch.full_like(v, torch.inf)) if v.is_floating_point() else v
        for k, v in weights.items()
    }
