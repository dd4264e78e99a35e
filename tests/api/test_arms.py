"""The experiments that a comparison makes of methods and configs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fedsemi.api.arms import arms_of
from fedsemi.config.experiment import Experiment, make_experiment
from fedsemi.evidence.catalogue import Setting


@pytest.fixture
def base(small_config: dict[str, Any]) -> Experiment:
    return make_experiment(small_config)


def test_a_method_takes_over_the_last_stage_and_its_settings(base: Experiment) -> None:
    arms = arms_of(["uniform-semi", ("semianagg", {"labeled_share": 0.9})], base)
    plain, changed = (arms.experiment(each, 7) for each in arms.settings)
    assert (plain.seed, changed.seed) == (7, 7)
    assert [stage.method for stage in plain.stages] == ["supervised", "uniform-semi"]
    assert plain.stages[-1].settings["learner"]["cutoff"] == 0.3
    assert changed.stages[-1].settings["labeled_share"] == 0.9
    assert plain.stages[0] == changed.stages[0] == base.stages[0]


def test_a_config_is_an_arm_but_for_its_seed(
    small_config: dict[str, Any], base: Experiment, tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[data]\nname = "synthetic"\n[model]\nname = "resnet8"\n'
        '[[stages]]\nmethod = "supervised"\nrounds = 1\n'
    )
    arms = arms_of([small_config, str(path)], None)
    assert [setting.arm for setting in arms.settings] == ["semianagg", "mine"]
    again = arms.experiment(arms.settings[0], base.seed)
    assert again.sha256 == base.sha256


def test_an_arm_computes_where_its_config_says(base: Experiment) -> None:
    assert arms_of(["fedavg"], base).device == "cpu"
    assert arms_of(["fedavg"], base).prelude(Setting("x", "fedavg"), 1) is None
