"""Every shipped config is whole: it loads, and two rounds of each stage run."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import pytest

import fedsemi
from fedsemi.build import build
from fedsemi.config import load_config, make_experiment, settings_model
from fedsemi.experiment import conduct

ROOT = Path(fedsemi.__file__).parent / "configs"
CONFIGS = sorted(ROOT.rglob("*.toml"))


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _tiny(content: dict[str, Any]) -> dict[str, Any]:
    """Keep methods and settings; shrink data, network, federation and rounds."""
    content["data"] = {"name": "synthetic", "train_limit": 64, "test_limit": 16}
    content["model"] = {"name": "resnet8", "width": 4}
    content["partition"] = content.get("partition", {}) | {
        "num_clients": 4,
        "min_size": 2,
    }
    content["partition"].pop("sha256", None)
    content["local"] = content.get("local", {}) | {"batch_size": 16}
    content.pop("start", None)
    for stage in content["stages"]:
        stage["rounds"] = 2
        stage.get("local", {}).pop("batch_size", None)
        if "projector_width" in settings_model(stage["method"]).model_fields:
            stage["projector_width"] = 16
    return content


@pytest.mark.parametrize("path", CONFIGS, ids=_name)
def test_every_shipped_config_runs_two_rounds(path: Path) -> None:
    load_config(path)  # as it is shipped
    experiment = make_experiment(_tiny(tomllib.loads(path.read_text("utf-8"))))
    steps = list(conduct(build(experiment)))
    assert len(steps) == 2 * len(experiment.stages)
    test = steps[-1].record.test
    assert test is not None and math.isfinite(test.accuracy)
    assert all(v.isfinite().all() for v in steps[-1].weights.values())


def test_every_config_opens_with_its_claim() -> None:
    silent = [_name(p) for p in CONFIGS if not p.read_text("utf-8").startswith("#")]
    assert silent in ([], ["demo.toml"])
