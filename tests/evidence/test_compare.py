"""Configs of a comparison: only what must differ does."""

from __future__ import annotations

import pytest

from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError
from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.compare import OwnConfig, comparison_of
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
