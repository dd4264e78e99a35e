"""Networks from outside: three shapes, any layers, and what is wrong with others."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError
from fedsemi.models import Classifier, ModelSpec
from fedsemi.models.folding import folded
from fedsemi.weights import digest

MODULE = """
import random
import numpy as np
import torch
from torch import nn
from fedsemi.models import Classifier

class Plain(nn.Module):
    '''A backbone without batch norm, which does not say how many features it has.'''
    def __init__(self, in_channels, hidden=8, odd=False):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, hidden, 3, padding=1)
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.plain = torch.arange(4.0)                     # in no state dict
        self.register_buffer("scale", torch.full((), 2.0), persistent=False)
        self.alias = [self.conv]                           # a copy must follow it

    def forward(self, x):
        x = self.pool(self.alias[0](x).tanh())
        return x.view(len(x), -1) * self.scale             # view, not reshape

class Whole(nn.Module):
    '''Features and a head, with batch norm, and features that are never negative.'''
    signed_features = False
    def __init__(self, num_classes, in_channels, width=4):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(in_channels, width, 3), nn.BatchNorm2d(width), nn.ReLU()
        )
        self.head = nn.Linear(width, num_classes)

    def features(self, x):
        return self.body(x).mean((2, 3))

    def forward(self, x):
        return self.head(self.features(x))

def ours(num_classes):
    encoder = nn.Sequential(nn.Flatten(), nn.LazyLinear(5))
    return Classifier(encoder, nn.Linear(5, num_classes))

def dicey():
    net = nn.Sequential(nn.Flatten(), nn.LazyLinear(3))
    net.first = nn.Parameter(torch.tensor([random.random(), np.random.rand()]))
    return net

class Stated(Plain):
    num_features = 99

def maps(in_channels):
    return nn.Conv2d(in_channels, 4, 3)

def number():
    return 3

def wants(depth):
    return None

def soft(num_classes, in_channels):
    net = Whole(num_classes, in_channels)
    net.head = nn.Sequential(net.head)
    return net

def few(in_channels):
    return Whole(2, in_channels)

def anything(in_channels, **more):
    return Plain(in_channels, **more)

instance = nn.Flatten()
text = "net"
class Odd: pass
"""
SHAPES = ["own_nets:Plain", "own_nets:Whole", "own_nets:ours"]


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_nets.py").write_text(MODULE)


@pytest.mark.parametrize("name", SHAPES)
def test_each_shape_gives_features_and_logits(name: str) -> None:
    model = ModelSpec(name, 5, 3, image_size=8).build(0)
    output = model(torch.rand(2, 3, 8, 8).to(memory_format=torch.channels_last))
    assert output.logits.shape == (2, 5)
    assert output.feature.shape == (2, model.num_features)
    assert {key.split(".")[0] for key in model.state_dict()} == {"encoder", "head"}
    assert torch.equal(output.logits, model.head(output.feature))
    assert model(torch.rand(0, 3, 8, 8)).logits.shape == (0, 5)


@pytest.mark.parametrize("name", [*SHAPES, "own_nets:dicey"])
def test_weights_depend_on_the_seed_alone(name: str) -> None:
    spec = ModelSpec(name, 5, 3, image_size=8)
    before = torch.random.get_rng_state()
    first, second, other = (digest(spec.build(s).state_dict()) for s in (7, 7, 8))
    assert first == second != other
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("name", SHAPES)
def test_an_empty_one_that_is_filled_is_the_same_network(name: str) -> None:
    spec = ModelSpec(name, 5, 3, image_size=8)
    model, filled = spec.build(3).eval(), spec.empty().eval()
    filled.load_state_dict(model.state_dict())
    images = torch.rand(4, 3, 8, 8)
    expected = model(images).logits
    assert torch.equal(filled(images).logits, expected)
    # A copy has weights of its own.
    with torch.no_grad():
        next(filled.parameters()).add_(1)
    assert torch.equal(model(images).logits, expected)
    assert not torch.equal(filled(images).logits, expected)
    assert digest(spec.empty().state_dict()) == digest(spec.empty().state_dict())


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_it_is_traced_for_export_without_a_warning() -> None:
    model = ModelSpec("own_nets:Whole", 5, 3, image_size=8).build(0).eval()
    images = torch.rand(2, 3, 8, 8)
    traced = torch.jit.trace(model.encoder, images)
    assert torch.equal(traced(images), model.features(images))


def test_width_and_own_settings_reach_the_network() -> None:
    wide = ModelSpec("own_nets:Whole", 5, 3, width=6, image_size=8)
    assert wide.num_features == 6
    own = ModelSpec("own_nets:Plain", 5, 1, image_size=8, settings={"hidden": 3})
    assert own.num_features == 3 * 4
    assert own != ModelSpec("own_nets:Plain", 5, 1, image_size=8)
    assert ModelSpec(**own.as_dict()) == own
    assert own.num_parameters == 3 * 9 + 3 + 12 * 5 + 5


def test_a_network_says_whether_its_features_have_signs() -> None:
    signed = {
        name: ModelSpec(name, 5, 3, image_size=16).signed_features
        for name in (*SHAPES, "resnet8", "resnet18-cifar", "simple-cnn")
    }
    assert signed == {
        "own_nets:Plain": True,
        "own_nets:Whole": False,
        "own_nets:ours": True,
        "resnet8": False,
        "resnet18-cifar": False,
        "simple-cnn": True,
    }


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("own_nets:Stated", "says 99 features, but makes 32"),
        ("own_nets:maps", "makes [1, 4, 6, 6] of one image, not features [1, d]"),
        ("own_nets:number", "returned a int, not a torch module"),
        ("own_nets:wants", "cannot be made (TypeError: wants() missing 1 required"),
        ("own_nets:soft", "has a head that is a Sequential, not a Linear layer"),
        ("own_nets:few", "4 features for 5 classes, but its head goes from 4 to 2"),
    ],
)
def test_what_is_no_network_is_one_clear_line(name: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ModelSpec(name, 5, 3, image_size=8).build(0)
    assert told in str(caught.value)
    assert str(caught.value).startswith(f"FS4162 the model '{name}'")


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (
            {"name": "own_nets:Plain", "hiden": 3},
            "FS4101 unknown key 'model.hiden' (did you mean 'hidden'?)",
        ),
        ({"name": "resnet8", "depth": 3}, "FS4101 unknown key 'model.depth'"),
        ({"name": "resnet8", "widht": 3}, "(did you mean 'width'?)"),
        ({"name": "own_nets:text"}, "FS4161 the model 'own_nets:text' is neither"),
        ({"name": "own_nets:instance"}, "FS4161 the model 'own_nets:instance' is nei"),
        ({"name": "own_nets:Odd"}, "is a class, but no torch module"),
        ({"name": "own_nets:None_"}, "FS4160 the model 'own_nets:None_' cannot be"),
        ({"name": "resnet9"}, "FS4104 model.name: there is no 'resnet9' (did you mean"),
    ],
)
def test_a_slip_in_a_config_is_explained(model: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make_experiment(_content(model))
    assert told in str(caught.value)


def test_a_width_that_nobody_takes_is_refused() -> None:
    with pytest.raises(ConfigError, match="own_nets:Plain has fixed widths"):
        ModelSpec("own_nets:Plain", 5, width=4)


def test_own_settings_name_the_experiment() -> None:
    names = {
        make_experiment(_content({"name": "own_nets:anything", **own})).sha256
        for own in ({}, {"hidden": 4}, {"hidden": 5}, {"hidden": 4})
    }
    assert len(names) == 3


def test_folding_leaves_alone_what_it_does_not_know() -> None:
    shared = nn.Conv2d(3, 3, 1)
    body = nn.Sequential(
        nn.Sequential(shared, nn.BatchNorm2d(3)),
        nn.Sequential(shared, nn.BatchNorm2d(3, track_running_stats=False)),
        nn.Sequential(Doubling(3, 3, 1), nn.BatchNorm2d(3)),
        nn.Flatten(),
    )
    model = Classifier(body, nn.Linear(3 * 16, 2)).train()
    model(torch.rand(8, 3, 4, 4))
    images = torch.rand(4, 3, 4, 4)
    expected = copy.deepcopy(model).eval()(images).logits
    assert torch.equal(folded(model)(images).logits, expected)


class Doubling(nn.Conv2d):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) * 2


def _content(model: dict[str, Any]) -> dict[str, Any]:
    return {
        "data": {"name": "synthetic"},
        "model": model,
        "stages": [{"method": "supervised", "rounds": 1}],
    }
