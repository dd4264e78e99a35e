"""The profile `paper` says what the fact sheet does.

Configs and profile are one source, so that comparing them cannot find what both have
wrong; the numbers here were written down by hand from the papers and released codes.
"""

from __future__ import annotations

from typing import Any

import pytest

from fedsemi.config.experiment import Experiment, Stage, _checked_settings
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.profiles import read_profile

_CE, _BSM = "cross-entropy", "balanced-softmax"
_DATA = {
    # network, loss on labels, rounds of warm-up, of the method and of the upper bound
    "svhn": ("resnet18-cifar", _CE, 250, 500, 750),
    "cifar100": ("resnet18-cifar", _CE, 500, 1000, 1500),
    "cifar100-lt": ("resnet18-cifar", _BSM, 500, 1000, 1500),
    "isic18": ("resnet18-imagenet", _BSM, 250, 500, 750),
}
_FLEX = ("flexmatch", 0.9, "global", "per_round")
_AVERAGING = ("fedavg", "fedavg-semi", "uniform", "permuted", "semianagg")
_UNLABELED, _ALL = "unlabeled-encoder", "all"


def _experiment(dataset: str, arm: str) -> Experiment:
    return read_profile("paper").experiment(setting(dataset, arm), 1)


def _settings(stage: Stage) -> Any:
    return _checked_settings(stage)


def _clipped(experiment: Experiment) -> list[str]:
    return [experiment.local_of(stage).clip for stage in experiment.stages]


@pytest.mark.parametrize("dataset", _DATA)
def test_every_method_learns_as_the_fact_sheet_says(dataset: str) -> None:
    network, loss, warm_up, rounds, upper = _DATA[dataset]
    found = _experiment(dataset, "semianagg")
    assert found.model.name == network
    assert [stage.rounds for stage in found.stages] == [warm_up, rounds]
    assert [s.rounds for s in _experiment(dataset, "upper").stages] == [upper]
    assert [s.rounds for s in _experiment(dataset, "warm-up").stages] == [warm_up]
    local, partition = found.local, found.partition
    assert (local.epochs, local.batch_size, local.loss) == (1, 64, loss)
    assert (local.lr_labeled, local.lr_unlabeled) == (0.03, 0.02)
    assert (local.momentum, local.keep_momentum, local.weight_decay) == (
        0.9,
        True,
        5e-4,
    )
    assert (local.clip_norm, local.student_passes) == (5.0, "separate")
    assert (partition.num_clients, partition.labeled_clients) == (10, 1)
    assert (partition.dirichlet_alpha, found.guard.enabled) == (0.8, False)
    assert found.precision == "float32"


@pytest.mark.parametrize("dataset", _DATA)
@pytest.mark.parametrize("arm", [*_AVERAGING, "fedrod", "barlow-semianagg"])
def test_flexmatch_forgets_every_round_wherever_it_is_used(
    dataset: str, arm: str
) -> None:
    found = _experiment(dataset, arm)
    learner = _settings(found.stages[-1]).learner
    state = learner.selection, learner.cutoff, learner.teacher, learner.flex_state
    assert state == _FLEX
    assert set(_clipped(found)) == {_UNLABELED}


@pytest.mark.parametrize(
    ("arm", "clipped"),
    [
        ("rscfed", [_UNLABELED, _ALL]),
        ("isofed", [_UNLABELED, _ALL]),
        ("cbafed", [_ALL, _ALL]),
        ("cbafed-warm-up", [_ALL]),
        ("orchestra-semianagg", ["none", _UNLABELED, _UNLABELED]),
    ],
)
def test_only_what_the_released_codes_clip_is_clipped(
    arm: str, clipped: list[str]
) -> None:
    assert _clipped(_experiment("svhn", arm)) == clipped


@pytest.mark.parametrize(
    ("dataset", "cap", "multiplier", "boost", "scales"),
    [
        ("svhn", 0.9, 1, 6, (100, 10_000)),
        ("cifar100", 0.95, 1, 6, (100, 10_000)),
        ("cifar100-lt", 0.95, 1, 6, (100, 10_000)),
        ("isic18", 0.9, 10, 200, (0.01, 0.01)),
    ],
)
def test_baselines_have_the_constants_of_their_authors(
    dataset: str, cap: float, multiplier: float, boost: float, scales: Any
) -> None:
    cbafed = _settings(_experiment(dataset, "cbafed").stages[-1])
    assert (cbafed.cap, cbafed.labeled_multiplier) == (cap, multiplier)
    assert (cbafed.base, cbafed.rare_below, cbafed.labeled_epochs) == (0.84, 0.03, 11)
    rscfed = _settings(_experiment(dataset, "rscfed").stages[-1])
    assert (rscfed.groups, rscfed.group_size, rscfed.labeled_boost) == (3, 5, boost)
    assert (rscfed.scale_labeled, rscfed.scale_unlabeled) == scales
    assert rscfed.unsupervised_weight == 0.02


@pytest.mark.parametrize("dataset", _DATA)
def test_fedbarlow_has_the_rates_of_the_text_and_half_of_the_cosine(
    dataset: str,
) -> None:
    first, head, _ = _experiment(dataset, "barlow-semianagg").stages
    barlow, half = _settings(first), _DATA[dataset][2]
    assert (barlow.lr, barlow.scale, barlow.off_diagonal) == (0.008, 0.01, 0.0051)
    assert (barlow.projector_width, barlow.head_lr) == (2048, 0.1)
    assert (first.rounds, barlow.cosine_rounds) == (half, 2 * half)
    assert (head.method, head.rounds) == ("head-only", 256)


def test_orchestra_has_its_own_rates() -> None:
    found = _experiment("cifar100", "orchestra-semianagg")
    orchestra, local = _settings(found.stages[0]), found.local_of(found.stages[0])
    assert (orchestra.lr, orchestra.temperature) == (0.003, 0.1)
    assert orchestra.memory_size == 128
    assert (orchestra.global_centroids, orchestra.local_centroids) == (128, 16)
    assert (local.epochs, local.batch_size, local.weight_decay) == (10, 16, 1e-4)
    assert not local.keep_momentum
