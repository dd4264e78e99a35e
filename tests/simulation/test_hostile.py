"""Attackers under masks forge what goes into the sum, and nobody sees whose it was."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fedsemi.config.experiment import make_experiment
from fedsemi.simulation.attack_suite import _attacked, _cuts_any, attackers_of
from fedsemi.simulation.build import Simulation, build


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    content: dict[str, Any] = {
        "data": {"name": "synthetic", "train_limit": 160},
        "partition": {"num_clients": 5, "scheme": "iid"},
        "model": {"name": "resnet8", "width": 4},
        "privacy": {"masked": True, "clip": 1.0},
        "stages": [{"method": "semianagg", "rounds": 1}],
    }
    return build(make_experiment(content))


def _moved(simulation: Simulation, attack: str) -> tuple[Any, float]:
    (step,) = _attacked(simulation, attack)
    start = simulation.initial_weights()
    steps = [
        (step.weights[k] - v).double().flatten()
        for k, v in start.items()
        if v.is_floating_point()
    ]
    return step.record, float(torch.cat(steps).norm())


def test_an_attacker_who_runs_our_software_keeps_to_the_norm_bound(
    simulation: Simulation,
) -> None:
    record, length = _moved(simulation, "scaled")
    assert record.dropped == ()  # nobody can tell
    assert length < 1.0  # 10,000 times the model, shortened to one


def test_a_model_that_is_not_finite_cannot_be_summed(simulation: Simulation) -> None:
    record, length = _moved(simulation, "nan")
    assert [each.code for each in record.dropped] == ["FS2101"]
    assert 0 < length < 1.0


def test_in_groups_that_are_compared_an_attacker_is_cut_with_its_group() -> None:
    content: dict[str, Any] = {
        "data": {"name": "synthetic", "train_limit": 240},
        "partition": {"num_clients": 9, "scheme": "iid"},
        "model": {"name": "resnet8", "width": 4},
        "privacy": {"masked": True, "groups": 3},
        "guard": {"enabled": True},
        "stages": [
            {"method": "semianagg", "rounds": 1, "learner": {"cutoff": 0.0}},
        ],
    }
    simulation = build(make_experiment(content))
    (attacker,) = attackers_of(simulation, "scaled")
    record, length = _moved(simulation, "scaled")
    (caught,) = [group for group in record.groups if group.part < 1]
    assert attacker in caught.summed
    assert _cuts_any(record, [attacker])
    honest, usual = _moved(simulation, "none")
    assert all(group.part == 1 for group in honest.groups)
    assert length < 2 * usual
