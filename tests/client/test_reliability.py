"""Whether probabilities keep their word."""

from __future__ import annotations

import numpy as np
import pytest

from fedsemi.client.reliability import reliability


def test_the_calibration_error_by_hand() -> None:
    prob = np.array([0.95, 0.95, 0.85, 0.65])
    true = np.array([True, False, True, False])
    found = reliability(prob, true)
    # 0.9-1.0: |1 - 1.9| = 0.9; 0.8-0.9: |1 - 0.85| = 0.15; 0.6-0.7: |0 - 0.65| = 0.65
    assert found.error == pytest.approx((0.9 + 0.15 + 0.65) / 4)
    assert [each.num for each in found.bins] == [1, 1, 2]
    assert [each.said for each in found.bins] == pytest.approx([0.65, 0.85, 0.95])
    assert [each.was.value for each in found.bins] == [0.0, 1.0, 0.5]


def test_certainty_belongs_to_the_last_bin() -> None:
    (last,) = reliability(np.array([1.0, 1.0]), np.array([True, True])).bins
    assert (last.num, last.said) == (2, 1.0)


def test_right_probabilities_stay_below_what_chance_allows() -> None:
    rng = np.random.default_rng(0)
    below = 0
    for seed in range(100):
        prob = rng.random(80)
        found = reliability(prob, rng.random(80) < prob, seed)
        below += found.error <= found.by_chance
    assert 88 <= below <= 100, "95 of 100, give or take"


def test_overconfidence_exceeds_what_chance_allows() -> None:
    rng = np.random.default_rng(0)
    prob = np.full(200, 0.95)
    found = reliability(prob, rng.random(200) < 0.7)
    assert found.error > 2 * found.by_chance
