"""The gate of a stage: what it reads of a method and of an experiment."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from fedsemi.config.experiment import make_experiment
from fedsemi.messages import DIVERSITY
from fedsemi.server.gate import Gate
from fedsemi.server.gates import gate_of
from fedsemi.simulation.build import build


def gate(config: dict[str, Any], **privacy: Any) -> Gate:
    simulation = build(make_experiment(config | {"privacy": privacy}))
    method = simulation.method(simulation.experiment.stages[-1])
    return gate_of(simulation, method)


def test_a_diversity_may_have_noise_where_no_pseudo_label_fell(
    small_config: dict[str, Any],
) -> None:
    assert gate(small_config).statistics[DIVERSITY].of_pseudo_labels
    noisy = gate(small_config, statistics_noise=1.0)
    assert not noisy.statistics[DIVERSITY].of_pseudo_labels


@pytest.mark.parametrize("enabled", [True, False])
def test_the_guard_is_on_where_the_experiment_says_so(
    small_config: dict[str, Any], enabled: bool
) -> None:
    made = gate(small_config | {"guard": {"enabled": enabled}})
    assert made.guard.enabled is enabled and made.guard.sees_steps
    assert made.pseudo_labels and made.sees_models


def test_the_loop_of_a_round_does_not_load_the_methods() -> None:
    program = (
        "import sys, fedsemi.server.rounds;"
        "print([name for name in sys.modules if name.startswith('fedsemi.methods')])"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
