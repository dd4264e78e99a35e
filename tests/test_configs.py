"""Every shipped config is whole: it loads, and two rounds of each stage run."""

from __future__ import annotations

import json
import math
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import fedsemi
from fedsemi.config.experiment import load_config, make_experiment, settings_model
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.profiles import read_profile
from fedsemi.evidence.shipped import SHIPPED, arm_name, text_of
from fedsemi.methods import METHODS
from fedsemi.runs.records import Step
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation

ROOT = Path(fedsemi.__file__).parent / "configs"
CONFIGS = sorted(ROOT.rglob("*.toml"))
SMALL = {
    "projector_width": 16,
    "labeled_epochs": 2,
    "local_centroids": 2,
    "server_steps": 3,
}


OF_THE_PAPER = [p for p in CONFIGS if p.parent.name in SHIPPED]


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _tiny(content: dict[str, Any]) -> dict[str, Any]:
    """Keep methods and settings; shrink data, network, federation and rounds."""
    content["data"] = {"name": "synthetic", "train_limit": 48, "test_limit": 8}
    content["model"] = {"name": "resnet8", "width": 2}
    content["partition"] = content.get("partition", {}) | {
        "num_clients": 4,
        "min_size": 2,
    }
    for key in ("sha256", "scheme", "rare"):  # so few images are dealt out at will
        content["partition"].pop(key, None)
    content["local"] = content.get("local", {}) | {"batch_size": 16}
    content.pop("start", None)
    for stage in content["stages"]:
        stage["rounds"] = 2
        stage["local"] = stage.get("local", {}) | {"epochs": 1, "batch_size": 16}
        known = settings_model(stage["method"]).model_fields
        stage |= {name: size for name, size in SMALL.items() if name in known}
    return content


@cache
def _last_step(content: str) -> tuple[int, Step]:
    """Run a config once, however many files it stands for when it is small."""
    steps = list(run_simulation(build(make_experiment(json.loads(content)))))
    return len(steps), steps[-1]


@pytest.mark.parametrize("path", CONFIGS, ids=_name)
def test_every_shipped_config_runs_two_rounds(path: Path) -> None:
    load_config(path)  # as it is shipped
    content = _tiny(tomllib.loads(path.read_text("utf-8")))
    count, last = _last_step(json.dumps(content, sort_keys=True))
    assert count == 2 * len(content["stages"])
    assert last.record.test is not None and math.isfinite(last.record.test.accuracy)
    assert all(v.isfinite().all() for v in last.weights.values())


def test_every_config_opens_with_its_claim() -> None:
    silent = [_name(p) for p in CONFIGS if not p.read_text("utf-8").startswith("#")]
    assert silent == []


def test_only_the_config_of_a_deployment_has_the_guard_on() -> None:
    guarded = [_name(p) for p in CONFIGS if load_config(p).guard.enabled]
    assert guarded == ["federation.toml"]


def test_every_config_that_bears_a_data_sets_name_is_one_of_the_papers() -> None:
    listed = {f"{folder}/{c}.toml" for folder, cs in SHIPPED.items() for c in cs}
    others = {
        "demo.toml",
        "digits.toml",
        "federation.toml",
        "cpu/svhn.toml",
        "cpu/isic18.toml",
    }
    others |= {"pretrained/isic18-96.toml", "pretrained/cifar100.toml"}
    field = [name for name, method in METHODS.own.items() if method.cards[0] != "LC"]
    others |= {f"cards/{name}.toml" for name in field}
    assert {_name(p) for p in CONFIGS} == listed | others


@pytest.mark.parametrize("path", OF_THE_PAPER, ids=_name)
def test_a_config_of_the_paper_is_what_reproduce_runs(path: Path) -> None:
    arm = setting(path.parent.name, arm_name(path.stem))
    config = load_config(path)
    assert config == read_profile("paper").experiment(arm, config.seed)


def test_the_configs_of_the_paper_are_as_make_configs_writes_them() -> None:
    profile = read_profile("paper")
    for path in OF_THE_PAPER:
        written = text_of(path.parent.name, path.stem, profile)
        assert path.read_text("utf-8") == written, f"{_name(path)}: run `make configs`"
