"""Every method on networks of one's own: a plain CNN, and one with a head."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fedsemi.client.learners import MeanTeaching
from fedsemi.data.client import Client
from fedsemi.methods import METHODS
from fedsemi.models import ModelSpec
from fedsemi.objectives.workbench import Setup

from .test_all_methods import SMALL

MODULE = """
from torch import nn

class Plain(nn.Module):
    '''Two convolutions without batch norm, to which a head is put.'''
    def __init__(self, in_channels, hidden=4):
        super().__init__()
        self.one = nn.Conv2d(in_channels, hidden, 3, padding=1)
        self.two = nn.Conv2d(hidden, hidden, 3, padding=1)
        self.num_features = hidden * 4

    def forward(self, x):
        x = nn.functional.max_pool2d(self.one(x).relu(), 2)
        x = nn.functional.max_pool2d(self.two(x).relu(), 2)
        return x.view(len(x), -1)

class Headed(nn.Module):
    '''Batch norm and group norm in one network with a head of its own.'''
    def __init__(self, num_classes, in_channels):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(in_channels, 4, 3), nn.BatchNorm2d(4), nn.ReLU(),
            nn.Conv2d(4, 6, 3), nn.GroupNorm(2, 6), nn.Tanh(),
        )
        self.head = nn.Linear(6, num_classes)

    def features(self, x):
        return self.body(x).mean((2, 3))

    def forward(self, x):
        return self.head(self.features(x))
"""


@pytest.fixture(params=["nets_for_all:Plain", "nets_for_all:Headed"])
def own(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tiny_setup: Setup,
) -> Setup:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "nets_for_all.py").write_text(MODULE)
    return replace(tiny_setup, model=ModelSpec(request.param, 3, image_size=8))


@pytest.mark.parametrize("name", METHODS.own)
def test_every_method_learns_for_two_rounds(
    name: str, own: Setup, tiny_clients: list[Client], play: Callable[..., Any]
) -> None:
    method: Any = METHODS[name](own, **SMALL.get(name, {}))  # type: ignore[call-arg]
    state, _, _ = play(method, tiny_clients)
    assert state.round == 2
    assert all(value.isfinite().all() for value in state.whole.values())
    start = own.model.build(0).state_dict()
    assert any((start[key] != state.weights[key]).any() for key in start)


def test_a_mean_teacher_and_two_workers_do_as_well(
    own: Setup, tiny_clients: list[Client], play: Callable[..., Any]
) -> None:
    learner = MeanTeaching("mean-teacher", cutoff=0.0)
    method: Any = METHODS["semianagg"](own, learner=learner)  # type: ignore[call-arg]
    alone, _, _ = play(method, tiny_clients)
    together, _, _ = play(method, tiny_clients, workers=2)
    assert all(
        (alone.weights[key] == together.weights[key]).all() for key in alone.weights
    )
