"""A federation so small that whole runs take a second."""

from __future__ import annotations

from typing import Any

import pytest

from fedsemi.config.experiment import make_experiment
from fedsemi.simulation.build import Simulation, build

pytest.importorskip("flwr")


def tiny(method: str = "semianagg", rounds: int = 2, **sections: Any) -> Simulation:
    content: dict[str, Any] = {
        "seed": 3,
        "data": {"name": "synthetic", "train_limit": 60, "test_limit": 8},
        "partition": {"num_clients": 3},
        "model": {"name": "resnet8", "width": 2},
        "local": {"batch_size": 16},
        "guard": {"enabled": True},  # as in every deployment that says nothing else
        "stages": [
            {"method": "supervised", "rounds": 1},
            {"method": method, "rounds": rounds},
        ],
    }
    return build(make_experiment(content | sections))


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 0.01)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Let no deadline take any time."""
    from fedsemi.deployment.coordinator import engine, post, roster

    found = Clock()
    for module in (engine, post, roster):
        monkeypatch.setattr(module, "time", found)
    return found


@pytest.fixture(scope="session")
def simulation() -> Simulation:
    return tiny()
