"""A small federation that attackers look at."""

from __future__ import annotations

from typing import Any

import pytest

from fedsemi.config.experiment import Experiment, make_experiment
from fedsemi.data.augment import Views
from fedsemi.data.dataset import Dataset
from fedsemi.models import ModelSpec
from fedsemi.objectives.workbench import Setup
from fedsemi.simulation.build import load_dataset


@pytest.fixture
def setup() -> Setup:
    views = Views(8, 10, (0.5,) * 3, (0.25,) * 3)
    return Setup(ModelSpec("resnet8", 3, 3, 2, 8), views)


def content(method: str = "semianagg", **more: Any) -> dict[str, Any]:
    return {
        "seed": 1,
        "data": {"name": "digits", "image_size": 8, "flip": False},
        "model": {"name": "resnet8", "width": 4},
        "partition": {"num_clients": 12, "dirichlet_alpha": 0.3, "min_size": 4},
        "local": {"batch_size": 16},
        "stages": [{"method": method, "rounds": 1}],
        **more,
    }


@pytest.fixture
def experiment() -> Experiment:
    return make_experiment(content())


@pytest.fixture(scope="session")
def digits() -> Dataset:
    return load_dataset(make_experiment(content()))
