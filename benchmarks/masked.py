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
from fedsemi.simulation.attack_suite import warm_up
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation
from fedsemi.storage import read_weights, write_weights

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
    with TemporaryDirectory() as name, one_thread():
        for seed in SEEDS:
            content = _content(seed)
            built = build(make_experiment(content))
            images = len(built.federation.test)
            warm = warm_up(built, Path(name))
            off = warm.with_name("off.safetensors")
            write_weights(off, _next(read_weights(warm)))
            scores = []
            for method, privacy, is_off in _CASES.values():
                stages = [{"method": method, "rounds": ROUNDS}]
                start = str(off if is_off else warm)
                case = {"start": start, "stages": stages, "privacy": privacy}
                (*_, end) = run_simulation(build(make_experiment(content | case)))
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


def _next(weights: Weights) -> Weights:
    """Change every weight by its last bit."""
    return {
        k: v.nextafter(torch.full_like(v, torch.inf)) if v.is_floating_point() else v
        for k, v in weights.items()
    }
