"""CBAFed's warm-up: which models are mixed, and when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from fedsemi.data.client import Client
from fedsemi.errors import ProtocolError
from fedsemi.messages import ClientInfo, Update
from fedsemi.methods.cbafed_warmup import CBAFedWarmup
from fedsemi.objectives.workbench import Setup
from fedsemi.simulation.build import Simulation


def _weights_of_each_round(setup: Setup, rounds: int) -> list[float]:
    """Let round r learn the number r; return what the server makes of it."""
    method = CBAFedWarmup(replace(setup, rounds=rounds))
    state = method.init({"x": torch.zeros(1)}, [ClientInfo(0, 10, 0)])
    seen = []
    for round in range(rounds):
        learned = {"x": torch.tensor([float(round)])}
        state = method.aggregate(state, [Update(0, round, learned, 10, 0)])
        seen.append(float(state.weights["x"]))
    return seen


def test_model_is_mixed_with_the_first_and_then_with_the_last_mix(
    tiny_setup: Setup,
) -> None:
    # round 5: .8 · 0 + .2 · 5 = 1; round 10: .8 · 1 + .2 · 10 = 2.8
    expected = [0, 1, 2, 3, 4, 1, 6, 7, 8, 9, 2.8]
    assert _weights_of_each_round(tiny_setup, 11) == pytest.approx(expected)


def test_the_last_round_ends_on_a_mix_whatever_the_length(tiny_setup: Setup) -> None:
    # round 8: .8 · 1 + .2 · 8 = 2.4, three rounds after the mix of round 5
    expected = [0, 1, 2, 3, 4, 1, 6, 7, 2.4]
    assert _weights_of_each_round(tiny_setup, 9) == pytest.approx(expected)


def test_a_warm_up_too_short_for_a_mix_has_none(tiny_setup: Setup) -> None:
    assert _weights_of_each_round(tiny_setup, 5) == [0, 1, 2, 3, 4]


def test_a_stage_of_an_experiment_tells_its_rounds(simulation: Simulation) -> None:
    stages = simulation.experiment.stages
    assert [simulation.setup(stage).rounds for stage in stages] == [2, 2]


def test_only_labels_are_learned_from(
    tiny_setup: Setup, tiny_clients: list[Client], play: Callable[..., Any]
) -> None:
    state, updates, _ = play(CBAFedWarmup(tiny_setup), tiny_clients)
    assert [(u.client, u.num_labeled, u.num_unlabeled) for u in updates] == [
        (0, 20, 0),
        (2, 9, 0),
    ]
    assert state.contributions == pytest.approx({0: 20 / 29, 2: 9 / 29})


def test_a_federation_without_labels_is_refused(tiny_setup: Setup) -> None:
    with pytest.raises(ProtocolError, match="cbafed-warmup needs a client with labels"):
        CBAFedWarmup(tiny_setup).init({}, [ClientInfo(0, 0, 5)])
