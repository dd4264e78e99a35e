"""Shapes, memory and time of the paper's runs are counted, and nothing is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.dry_check import RATE, activations, dry_check, shape_of
from fedsemi.evidence.jobs import make_plan
from fedsemi.evidence.profiles import read_profile
from fedsemi.models import ModelSpec


def test_the_papers_shapes_are_those_of_its_networks() -> None:
    paper = read_profile("paper")
    svhn = shape_of("svhn", paper.experiment(setting("svhn", "semianagg"), 1))
    assert (svhn.model.name, svhn.model.image_size, svhn.batch) == (
        "resnet18-cifar",
        32,
        64,
    )
    assert svhn.stored == (73_257 + 26_032) * 3 * 32 * 32
    isic = shape_of("isic18", paper.experiment(setting("isic18", "semianagg"), 1))
    assert isic.model.image_size == 224 and isic.stored == 10_015 * 3 * 250 * 250


def test_activations_are_the_outputs_of_all_layers() -> None:
    # Twice the side: four times the numbers, but for the few after the pooling.
    small = activations(ModelSpec("resnet8", 10, width=4, image_size=8))
    large = activations(ModelSpec("resnet8", 10, width=4, image_size=16))
    assert 3.9 * small < large < 4 * small


def test_time_is_passes_times_multiply_adds_at_the_stated_rate(tmp_path: Path) -> None:
    overrides = ["warm_up=0", "rounds=2", "upper=2", "evaluation.every=2"]
    profile = read_profile("paper", overrides)
    one = setting("svhn", "upper")
    *_, runs, total = dry_check(make_plan([one], profile, 1, tmp_path))
    shape = shape_of("svhn", profile.experiment(one, 1))
    # Two rounds of one epoch over all images, six passes each, and one test.
    seconds = (2 * 6 * 73_257 + 26_032) * shape.forward / RATE
    assert 60 < seconds < 3600
    told = f"{round(seconds) // 60} min {round(seconds) % 60:02} s"
    assert f"1 runs, {told} each" in runs
    assert "an estimate: counted, not measured, at 4 trillion" in total


@pytest.mark.parametrize(("arm", "told"), [("warm-up", "6 min"), ("upper", "1 h 09")])
def test_only_labeled_clients_learn_in_a_warm_up(
    tmp_path: Path, arm: str, told: str
) -> None:
    # 100 rounds of 5,000 or 50,000 images: 6 * 555e6 * 5e5 / 4e12 = 416 s, or tenfold.
    rounds = ["warm_up=100", "upper=100", "evaluation.every=100"]
    one, profile = setting("cifar100", arm), read_profile("paper", rounds)
    _, runs, _ = dry_check(make_plan([one], profile, 1, tmp_path))
    assert f"1 runs, {told}" in runs


def test_a_plan_without_work_says_nothing(tmp_path: Path) -> None:
    assert list(dry_check(make_plan([], read_profile("paper"), 1, tmp_path))) == []


@pytest.mark.parametrize("dataset", ["svhn", "cifar100", "cifar100-lt", "isic18"])
def test_a_step_fits_into_the_memory_of_a_common_gpu(dataset: str) -> None:
    experiment = read_profile("paper").experiment(setting(dataset, "semianagg"), 1)
    assert 0.1e9 < shape_of(dataset, experiment).step_bytes < 8e9
