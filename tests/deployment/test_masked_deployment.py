"""A masked federation of real processes over TLS has the bits of the simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fedsemi.cli.deployment import deal_out
from fedsemi.config.experiment import make_experiment
from fedsemi.deployment.one_machine.trial import run_trial
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation
from fedsemi.storage import read_weights
from fedsemi.weights import digest

CONTENT: dict[str, Any] = {
    "data": {"name": "synthetic", "train_limit": 600},
    "partition": {"num_clients": 3, "scheme": "iid"},
    "model": {"name": "resnet8", "width": 4},
    "privacy": {"masked": True},
    "stages": [{"method": "semianagg", "rounds": 2}],
}


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_sites_that_sign_and_mask_reach_the_same_model(tmp_path: Path) -> None:
    simulation = build(make_experiment(CONTENT))
    (*_, last) = run_simulation(simulation)
    deal_out(simulation, tmp_path)
    said: list[str] = []
    run_trial(tmp_path, said.append)
    model = read_weights(tmp_path / "coordinator" / "run" / "model.safetensors")
    assert digest(model) == digest(last.weights), said
    for site in ("site-0", "site-1", "site-2"):
        assert len(list((tmp_path / site / "peers").glob("*.pub"))) == 3
        assert list((tmp_path / site).glob("memory/*/sums-000/round-*.json"))
