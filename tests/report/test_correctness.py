"""What two models differ by on the same test images."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fedsemi.report.correctness import packed, paired_interval, unpacked


def test_a_bit_for_each_image_says_whether_its_class_was_found() -> None:
    probs = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    kept = json.loads(json.dumps(packed(probs, torch.tensor([0, 0, 0]))))
    found = unpacked(kept)
    assert found is not None and found.tolist() == [True, False, True]
    assert unpacked(None) is None


def test_the_interval_is_the_one_worked_by_hand() -> None:
    # 100 images; 20 only ours gets right, 5 only the other. With half an image more in
    # each case: (20.5 - 5.5) / 102 = 0.14706, its variance (26 - 15^2 / 102) / 102^2 =
    # 0.0022870, the reach 1.96 x 0.047823 = 0.09373.
    ours = np.array([True] * 20 + [False] * 5 + [True] * 75)
    other = np.array([False] * 20 + [True] * 5 + [True] * 75)
    low, high = paired_interval(ours, other)
    assert (low, high) == pytest.approx((0.05333, 0.24079), abs=2e-5)


def test_equal_predictions_are_no_certainty() -> None:
    same = np.ones(50, dtype=bool)
    low, high = paired_interval(same, same)
    assert low == -high and high > 0.03


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=99))
def test_whoever_is_named_first_only_turns_the_interval_round(
    pairs: list[tuple[bool, bool]],
) -> None:
    ours, other = (np.array(each) for each in zip(*pairs, strict=True))
    low, high = paired_interval(ours, other)
    assert paired_interval(other, ours) == (pytest.approx(-high), pytest.approx(-low))
    assert low <= high
