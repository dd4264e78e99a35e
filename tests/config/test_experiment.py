from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fedsemi.client.learners import PseudoLabeling
from fedsemi.config.experiment import load_config, make_experiment
from fedsemi.errors import ConfigError

TEXT = """
[data]
name = "synthetic"
[model]
name = "resnet8"
[[stages]]
method = "supervised"
rounds = 3
[[stages]]
method = "semianagg"
rounds = 5
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "experiment.toml"
    file.write_text(TEXT)
    return file


def test_defaults_are_the_papers(path: Path) -> None:
    experiment = load_config(path)
    local, partition = experiment.local, experiment.partition
    assert (local.lr_labeled, local.lr_unlabeled, local.batch_size) == (0.03, 0.02, 64)
    assert (partition.num_clients, partition.dirichlet_alpha) == (10, 0.8)
    stage = experiment.stages[1].settings
    assert (stage["labeled_share"], stage["rule"]) == (0.5, "paper")
    assert stage["learner"]["cutoff"] == PseudoLabeling().cutoff


@pytest.mark.parametrize(
    ("override", "value"),
    [
        ("stages.1.rounds=7", 7),
        ("stages.1.rule=released", "released"),
        ('stages.1.rule="released"', "released"),
        ("stages.1.learner.cutoff=0.5", 0.5),
        ("local.epochs=2", 2),
        ("partition.labeled_clients=[1, 2]", [1, 2]),
        ("evaluation.every=4", 4),
    ],
)
def test_overrides_reach_every_level(path: Path, override: str, value: Any) -> None:
    place: Any = load_config(path, [override]).model_dump(mode="json")
    for part in override.partition("=")[0].split("."):
        place = place[int(part) if part.isdigit() else part]
    assert place == value


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("sede=1", "unknown key 'sede'.*did you mean 'seed'"),
        ("local.ephocs=1", "unknown key 'local.ephocs'.*did you mean 'epochs'"),
        ("stages.1.ronds=1", "unknown key 'stages.1.ronds'.*did you mean 'rounds'"),
        ("stages.1.local.lr=1", "unknown key 'stages.1.local.lr'"),
        ("stages.1.method=semianag", "no 'semianag'.*did you mean 'semianagg'"),
        ("data.name=svnh", "no 'svnh'.*did you mean 'svhn'"),
        ("model.name=resnet9", "no 'resnet9'.*did you mean 'resnet8'"),
        ("stages.7.rounds=1", "there are 2 entries"),
        ("seed.deep=1", "'seed.deep': 'seed' is a value, not a section"),
        ("no-equals-sign", "not of the form section.key=value"),
        ("stages.1.labeled_share=1.5", "less than or equal to 1"),
        ("local.batch_size=1", "greater than or equal to 2"),
        ('local.epochs="two"', "valid integer"),
        ("seed=true", "valid integer"),
        ("seed=-1", "'seed' is -1: .*greater than or equal to 0"),
        ("partition.seed=-1", "'partition.seed' is -1: .*greater than or equal to 0"),
    ],
)
def test_a_mistake_gets_one_line_with_its_place(
    path: Path, override: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_config(path, ["seed=1", override] if "deep" in override else [override])
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 64


def test_a_missing_section_is_named(path: Path) -> None:
    path.write_text(TEXT.replace('[model]\nname = "resnet8"\n', ""))
    with pytest.raises(ConfigError, match="'model' is missing"):
        load_config(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no config"):
        load_config(tmp_path / "nothing.toml")


def test_broken_toml_is_reported_with_its_line(path: Path) -> None:
    path.write_text("seed = = 1")
    with pytest.raises(ConfigError, match="line 1"):
        load_config(path)


def test_the_hash_depends_on_settings_and_not_on_how_they_are_written(
    path: Path,
) -> None:
    plain = load_config(path).sha256
    assert load_config(path, ["local.epochs=1"]).sha256 == plain
    assert load_config(path, ["local.epochs=2"]).sha256 != plain


def test_a_stage_may_learn_differently(small_config: dict[str, Any]) -> None:
    small_config["stages"][1]["local"] = {"epochs": 3}
    experiment = make_experiment(small_config)
    epochs = [experiment.local_of(stage).epochs for stage in experiment.stages]
    assert epochs == [1, 3]
    assert experiment.local_of(experiment.stages[1]).batch_size == 16


def test_a_shipped_config_is_found_by_its_name() -> None:
    assert load_config(Path("svhn/semianagg")).data.name == "svhn"
