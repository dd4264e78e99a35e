"""The running mean of the global model: what it is, and that it disturbs nothing."""

from __future__ import annotations

from typing import Any

import torch

from fedsemi.config.experiment import make_experiment
from fedsemi.server.running_mean import moved
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation
from fedsemi.weights import digest


def test_the_mean_keeps_its_part_and_takes_the_rest_of_the_new_model() -> None:
    mean = {"w": torch.tensor([1.0]), "steps": torch.tensor(3)}
    new = {"w": torch.tensor([2.0]), "steps": torch.tensor(7)}
    # 0.85 * 1 + 0.15 * 2; counters are the new model's.
    found = moved(mean, new, keep=0.85)
    assert torch.allclose(found["w"], torch.tensor([1.15]))
    assert int(found["steps"]) == 7


def test_keeping_a_mean_changes_no_bit_of_the_model(
    small_config: dict[str, Any],
) -> None:
    plain = list(run_simulation(build(make_experiment(small_config))))
    kept = small_config | {"evaluation": {"running_mean": 0.5}}
    averaged = list(run_simulation(build(make_experiment(kept))))
    assert digest(averaged[-1].weights) == digest(plain[-1].weights)
    assert plain[-1].record.running_mean is None
    assert averaged[-1].record.as_json()["running_mean"].keys() >= {"accuracy", "auc"}


def test_the_mean_begins_anew_with_each_stage(small_config: dict[str, Any]) -> None:
    kept = small_config | {"evaluation": {"running_mean": 0.25}}
    steps = list(run_simulation(build(make_experiment(kept))))
    before, first = steps[1], steps[2]
    assert (before.record.stage, first.record.stage) == (0, 1)
    expected = moved(before.weights, first.weights, keep=0.25)
    assert digest(first.state.running_mean) == digest(expected)
