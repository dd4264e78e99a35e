"""A run's record names its plug-ins, and it does not go on with changed ones."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fedsemi.config.experiment import make_experiment
from fedsemi.config.plugged import plugins_of
from fedsemi.errors import Mismatch
from fedsemi.runs.folder import RunFolder
from fedsemi.runs.manifest import identity
from fedsemi.simulation.build import build
from fedsemi.use.session import train

MODULE = """
from dataclasses import dataclass
from torch import nn
from fedsemi.client.learners import LocalLearner, PseudoLabeling
from fedsemi.contributions import by_data_size
from fedsemi.data.datasets import load
from fedsemi.methods.averaging import Averaging

class BySize(Averaging):
    def contributions(self, updates):
        return by_data_size(updates)

class Plain(LocalLearner):
    def objective(self, bench, probe=None):
        return PseudoLabeling().objective(bench, probe)

def net(in_channels):
    return nn.Sequential(nn.Conv2d(in_channels, 2, 5, 3), nn.Flatten())

def data():
    return load("synthetic")
"""


def content(module: str) -> dict[str, Any]:
    stage = {"method": f"{module}:BySize", "learner": {"name": f"{module}:Plain"}}
    return {
        "data": {"name": f"{module}:data", "train_limit": 60, "test_limit": 8},
        "model": {"name": f"{module}:net"},
        "partition": {"num_clients": 3, "min_size": 8},
        "stages": [stage | {"rounds": 1}],
    }


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "all_own", raising=False)
    path = tmp_path / "all_own.py"
    path.write_text(MODULE)
    return path


def test_all_four_kinds_are_named_with_their_source(module: Path) -> None:
    experiment = make_experiment(content("all_own"))
    found = plugins_of(experiment, with_data=True)
    assert {name: each["kind"] for name, each in found.items()} == {
        "all_own:BySize": "method",
        "all_own:Plain": "learner",
        "all_own:data": "data set",
        "all_own:net": "model",
    }
    # Sites have images of their own.
    assert "all_own:data" not in plugins_of(experiment)


def test_what_comes_with_fedsemi_leaves_plans_as_they_were() -> None:
    stage = {"method": "semianagg", "rounds": 1, "learner": {"name": "acr"}}
    data, model = {"name": "synthetic"}, {"name": "resnet8", "width": 2}
    simulation = build(
        make_experiment({"data": data, "model": model, "stages": [stage]})
    )
    assert plugins_of(simulation.experiment, with_data=True) == {}
    plan = json.loads(simulation.as_json())
    assert set(plan) == {"experiment", "model", "views", "class_names"}
    assert "settings" not in plan["model"]


def test_a_run_with_a_changed_plugin_does_not_go_on(
    module: Path, tmp_path: Path
) -> None:
    simulation = build(make_experiment(content("all_own")))
    train(simulation, tmp_path / "run", "own", 1, Console(quiet=True))
    recorded = json.loads((tmp_path / "run/manifest.json").read_text())["plugins"]
    assert recorded == identity(simulation)["plugins"]
    module.write_text(MODULE + "# changed\n")
    with pytest.raises(
        Mismatch, match=r"FS1302 cannot resume: plugins\.all_own:BySize"
    ):
        RunFolder.resume(tmp_path / "run", simulation)
