"""Configs of a comparison: only what must differ does."""

from __future__ import annotations

from fedsemi.build import build
from fedsemi.config import make_experiment
from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.compare import OwnConfig


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
