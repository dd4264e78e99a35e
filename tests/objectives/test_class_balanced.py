"""CBAFed's thresholds and choices, against worked and published numbers."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

from fedsemi.objectives.class_balanced import choose, class_thresholds

SVHN = [15, 292, 986, 116, 63, 1285, 1352, 1438, 807, 267]
SVHN_THRESHOLD = [0.755636, 0.797473, 0.9, 0.770891, 0.762886, 0.9, 0.9, 0.9]
SVHN_THRESHOLD[8:] = [0.875256, 0.793697]
ISIC = [16, 151, 11, 4, 5, 390, 12]


@pytest.mark.parametrize(
    ("count", "expected", "rare"),
    [
        (
            SVHN,
            SVHN_THRESHOLD,
            [0, 3, 4],
        ),
        (
            ISIC,
            [0.686858, 0.8473, 0.680916, 0.672597, 0.673785, 0.9, 0.682104],
            [0, 2, 3, 4, 6],
        ),
    ],
)
def test_golden_thresholds_of_the_first_round(
    count: list[int], expected: list[float], rare: list[int]
) -> None:
    threshold, is_rare = class_thresholds(torch.tensor(count), cap=0.9)
    assert_close(threshold, torch.tensor(expected).double(), atol=6e-7, rtol=0)
    assert torch.nonzero(is_rare).flatten().tolist() == rare


def test_no_counts_at_all_make_every_class_rare_at_the_base() -> None:
    threshold, rare = class_thresholds(torch.zeros(4), cap=0.9)
    assert_close(threshold, torch.full((4,), 0.84).double())
    assert rare.all()


def test_one_class_alone_has_no_spread() -> None:
    threshold, rare = class_thresholds(torch.tensor([50]), cap=0.99)
    assert_close(threshold, torch.tensor([0.94]).double())  # 1 · 1 / 10 + 0.84
    assert not rare.any()


def test_second_best_class_counts_only_if_rare() -> None:
    threshold = torch.tensor([0.8, 0.8, 0.8])
    rare = torch.tensor([False, True, False])
    probs = torch.tensor(
        [
            [0.9, 0.1, 0.0],  # sure
            [0.6, 0.3, 0.1],  # unsure, the second is rare
            [0.6, 0.1, 0.3],  # unsure, the second is common
            [0.3, 0.6, 0.1],  # unsure, only the best is rare
            [0.8, 0.15, 0.05],  # exactly at the threshold is not above it
        ]
    )
    assert choose(probs, threshold, rare).tolist() == [0, 1, -1, -1, 1]


def test_one_class_alone_has_no_second_best() -> None:
    label = choose(torch.ones(2, 1), torch.tensor([1.0]), torch.tensor([True]))
    assert label.tolist() == [-1, -1]
