"""Every method of the field learns under the card that it is made for."""

from __future__ import annotations

from typing import Any

import pytest

from fedsemi.config.experiment import make_experiment
from fedsemi.methods import METHODS
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation

CHANCE = 0.25
"""Synthetic images have four classes."""
PLAIN_SGD = {"lr_labeled": 0.01, "momentum": 0.0, "clip": "none"}
FIELD: dict[str, dict[str, Any]] = {
    "feddb": {},
    "sage": {"cutoff": 0.8},
    "fl2": {},
    "semifl": {},
    "twin-sight": {"cutoff": 0.8},
    "proxyfl": {"cutoff": 0.8},
    "fedmatch": {"helper_interval": 2, "local": PLAIN_SGD},
}
"""Methods by what a small federation needs to differ."""
SLOW = ("twin-sight", "proxyfl", "fedmatch")
"""Seconds each, which the fast suite does not have; it has their formulas."""


def accuracies(method: str, rounds: int, **settings: Any) -> list[float]:
    card = METHODS[method].cards[0]
    few = {"labels_per_class": 6} if card in ("LAC", "LS") else {}
    experiment = make_experiment(
        {
            "data": {"name": "synthetic", "train_limit": 200, "test_limit": 100},
            "setting": {"card": card, **few},
            "partition": {"num_clients": 3, "scheme": "iid"},
            "model": {"name": "resnet8", "width": 4},
            "local": {"batch_size": 8, "epochs": 2},
            "stages": [{"method": method, "rounds": rounds, **settings}],
        }
    )
    steps = run_simulation(build(experiment))
    return [step.record.test.accuracy for step in steps if step.record.test]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])
        for name in FIELD
    ],
)
def test_a_method_learns_under_its_own_card(name):
    found = accuracies(name, 6, **FIELD[name])
    assert max(found[-2:]) > 2 * CHANCE


def test_semifl_learns_with_static_batch_norm_too():
    assert max(accuracies("semifl", 6, batch_norm="static")[-2:]) > 2 * CHANCE


@pytest.mark.slow
def test_exact_shares_of_feddb_learn_too():
    assert max(accuracies("feddb", 6, shares="exact")[-2:]) > 2 * CHANCE
