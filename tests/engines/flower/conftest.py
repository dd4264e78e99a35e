"""A federation so small that whole runs take a second."""

from __future__ import annotations

from typing import Any

import pytest

from fedsemi.build import Simulation, build
from fedsemi.config import make_experiment

pytest.importorskip("flwr")


def tiny(method: str = "semianagg", rounds: int = 2, **sections: Any) -> Simulation:
    content: dict[str, Any] = {
        "seed": 3,
        "data": {"name": "synthetic", "train_limit": 60, "test_limit": 8},
        "partition": {"num_clients": 3},
        "model": {"name": "resnet8", "width": 2},
        "local": {"batch_size": 16},
        "stages": [
            {"method": "supervised", "rounds": 1},
            {"method": method, "rounds": rounds},
        ],
    }
    return build(make_experiment(content | sections))


@pytest.fixture(scope="session")
def simulation() -> Simulation:
    return tiny()
