"""Stages, methods and networks, as a program may write them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.api.conftest import SMALL
from torch import Tensor

import fedsemi
from fedsemi.api.settings import method_name, model_section, stage_section
from fedsemi.client.learners import PseudoLabeling
from fedsemi.errors import ConfigError
from fedsemi.methods.semianagg import SemiAnAgg


class ByRoot(fedsemi.SemiAveraging):
    """Unlabeled sites count by the root of their pseudo-labels."""

    def contributions(self, updates: Sequence[fedsemi.Update]) -> Tensor:
        """Return the shares."""
        roots = [update.num_pseudo**0.5 for update in updates]
        return fedsemi.shares_by(roots, updates, self.labeled_share)


@pytest.mark.parametrize(
    ("stage", "section"),
    [
        (("fedavg", 3), {"method": "fedavg", "rounds": 3}),
        (["fedavg", 3], {"method": "fedavg", "rounds": 3}),
        (
            ("fedavg", 3, {"participation": 0.5}),
            {"method": "fedavg", "rounds": 3, "participation": 0.5},
        ),
        ({"method": SemiAnAgg, "rounds": 1}, {"method": "semianagg", "rounds": 1}),
        ((ByRoot, 2), {"method": f"{ByRoot.__module__}:ByRoot", "rounds": 2}),
    ],
)
def test_a_stage_is_a_tuple_or_a_dict(stage: Any, section: dict[str, Any]) -> None:
    assert stage_section(stage) == section


def test_a_learner_may_be_given_as_an_object() -> None:
    stage = ("fedavg", 1, {"learner": PseudoLabeling(cutoff=0.4)})
    assert stage_section(stage)["learner"]["cutoff"] == 0.4


@pytest.mark.parametrize("stage", ["fedavg", ("fedavg",), 7])
def test_what_is_no_stage_is_refused(stage: Any) -> None:
    with pytest.raises(ConfigError, match="a stage is"):
        stage_section(stage)


@pytest.mark.parametrize("method", [object, SemiAnAgg.contributions, 3])
def test_what_is_no_method_is_refused(method: Any) -> None:
    with pytest.raises(ConfigError, match=r"derives from fedsemi\.Method"):
        method_name(method)


def test_a_network_is_a_name_or_a_section() -> None:
    assert model_section("resnet8") == {"name": "resnet8"}
    assert model_section({"name": "resnet8", "width": 4})["width"] == 4


@pytest.mark.parametrize("model", [7, torch.nn.Linear(2, 2)])
def test_what_makes_no_network_is_refused(model: Any) -> None:
    with pytest.raises(ConfigError, match="a class or function that makes"):
        model_section(model)


def test_an_own_method_trains_and_its_shares_are_those_it_says(
    arrays: fedsemi.Sites, tmp_path: Path
) -> None:
    settings = {"labeled_share": 0.2, "learner": {"cutoff": 0.3}}
    own = SMALL | {"stages": [("supervised", 1), (ByRoot, 1, settings)]}
    run = fedsemi.simulate(arrays, **own, out=tmp_path / "run")
    last = [row for row in run.contributions if row["stage"] == 1]
    roots = [row["num_pseudo"] ** 0.5 for row in last if row["num_unlabeled"]]
    due = [0.2, *(0.8 * root / sum(roots) for root in roots)]
    assert [row["contribution"] for row in last] == pytest.approx(due)


class Tiny(torch.nn.Module):
    """A network of one's own: images to features."""

    def __init__(self, in_channels: int) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(in_channels, 6, 3, stride=2),
            torch.nn.ReLU(),
            torch.nn.AdaptiveAvgPool2d(1),
            torch.nn.Flatten(),
        )

    def forward(self, images: Tensor) -> Tensor:
        """Return features, [B, 6]."""
        features: Tensor = self.layers(images)
        return features


@pytest.mark.parametrize("workers", [1, 2])
def test_an_own_network_trains_and_is_the_model_of_the_run(
    arrays: fedsemi.Sites, tmp_path: Path, workers: int
) -> None:
    own = SMALL | {"model": Tiny, "workers": workers}
    run = fedsemi.simulate(arrays, **own, out=tmp_path / "run")
    assert any(isinstance(part, Tiny) for part in run.model.modules())
    assert fedsemi.load(run.folder).model.num_features == 6
