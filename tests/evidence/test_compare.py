"""Configs of a comparison: only what must differ does."""

from __future__ import annotations

import pytest

from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError
from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.compare import OwnConfig, comparison_of, read_own
from fedsemi.evidence.jobs import job_of
from fedsemi.simulation.build import build


def test_a_config_that_names_its_partition_can_be_compared(small_config):
    sha256 = build(make_experiment(small_config)).partition.sha256
    small_config["partition"]["sha256"] = sha256
    own = OwnConfig("small", make_experiment(small_config))

    def partition(arm, seed):
        return build(own.experiment(Setting("synthetic", arm), seed)).partition

    assert partition("fedavg", 3).sha256 == sha256
    assert partition("upper", 3).labeled_share == 1
    assert partition("fedavg", 4).sha256 != sha256
    kept = own.experiment(Setting("synthetic", "fedavg"), 3).partition.sha256
    assert kept == sha256, "a partition that should be the same is still checked"


def test_the_warm_up_is_a_row_of_its_own_and_the_one_that_methods_share(small_config):
    own = OwnConfig("small", make_experiment(small_config))
    first, second = comparison_of(own, ["semianagg"]).settings
    assert (first.arm, second.arm) == ("warm-up", "semianagg")
    assert job_of(first, 3, own).experiment == job_of(second, 3, own).warm_up


def test_a_config_of_one_stage_has_no_warm_up(small_config):
    small_config["stages"] = small_config["stages"][-1:]
    own = OwnConfig("small", make_experiment(small_config))
    arms = [each.arm for each in comparison_of(own, ["semianagg"]).settings]
    assert arms == ["lower", "semianagg"]
    with pytest.raises(ConfigError, match="FS4140"):
        comparison_of(own, ["warm-up"])


def stages(config, arm):
    own = OwnConfig("small", make_experiment(config))
    made = own.experiment(Setting("synthetic", arm), 3)
    return [stage.model_dump(exclude_unset=True) for stage in made.stages]


def test_a_method_takes_over_the_settings_that_it_knows(small_config):
    small_config["stages"][-1] |= {"labeled_share": 0.3, "sharpness": 2.0}
    before, last = stages(small_config, "uniform-semi")
    assert before["method"] == "supervised" and before["rounds"] == 2
    assert (last["method"], last["rounds"]) == ("uniform-semi", 2)
    assert last["labeled_share"] == 0.3 and last["learner"]["cutoff"] == 0.3
    assert "sharpness" not in last, "which only SemiAnAgg has"


def test_the_method_of_the_config_keeps_all_its_settings(small_config):
    small_config["stages"][-1]["sharpness"] = 2.0
    assert stages(small_config, "semianagg")[-1]["sharpness"] == 2.0


def test_bounds_train_on_labels_for_as_long_as_the_methods(small_config):
    for bound in ("lower", "upper"):
        (only,) = stages(small_config, bound)
        assert (only["method"], only["rounds"]) == ("supervised", 4)


def test_bounds_learn_labels_as_the_warm_up_does(small_config):
    small_config["stages"][0]["views"] = "clean"
    made = [stages(small_config, arm)[0] for arm in ("warm-up", "lower", "upper")]
    assert [stage["views"] for stage in made] == ["clean"] * 3


def test_the_warm_up_is_what_comes_before_the_last_stage(small_config):
    (only,) = stages(small_config, "warm-up")
    assert (only["method"], only["rounds"]) == ("supervised", 2)


def test_a_method_that_is_named_twice_or_is_the_lower_bound_has_one_row(small_config):
    own = OwnConfig("small", make_experiment(small_config))
    made = comparison_of(own, ["fedavg", "warm-up", "fedavg"])
    assert [each.arm for each in made.settings] == ["warm-up", "fedavg"]
    assert made.tests == (), "SemiAnAgg is not among them"


def test_folders_of_real_sites_are_compared_run_by_run(tmp_path):
    config = tmp_path / "own.toml"
    config.write_text(
        '[data]\nname = "folders"\nimage_size = 8\n'
        '[sites]\nfolders = ["a"]\nclasses = ["x", "y"]\n'
        '[model]\nname = "resnet8"\n[[stages]]\nmethod = "supervised"\nrounds = 1\n'
    )
    with pytest.raises(ConfigError, match=r"FS4107 .* images in folders") as refused:
        read_own(config, [])
    command = f"`fedsemi run {config} --set stages.0.method=NAME --out runs/NAME`"
    assert command in str(refused.value)


def test_a_comparison_is_named_after_its_config(tmp_path):
    config = tmp_path / "mine.v2.toml"
    config.write_text(
        '[data]\nname = "synthetic"\n[model]\nname = "resnet8"\n'
        '[[stages]]\nmethod = "supervised"\nrounds = 1\n'
    )
    own = read_own(config, ["seed=7"])
    assert (own.name, own.base.seed) == ("mine.v2", 7)
