"""Draws of test images, and the intervals that they give."""

from __future__ import annotations

import numpy as np
import pytest

from fedsemi.client.resampling import Resamples, draws_for, interval, wilson


def test_each_class_is_in_every_draw_as_often_as_in_the_truth() -> None:
    labels = np.array([0, 0, 0, 0, 0, 1, 1, 2])
    for weights in Resamples(labels, 50).chunks():
        assert (weights[labels == 0].sum(axis=0) == 5).all()
        assert (weights[labels == 1].sum(axis=0) == 2).all()
        assert (weights[labels == 2] == 1).all(), "one image is always itself"


def test_images_of_one_patient_are_drawn_together() -> None:
    groups = np.array([7, 7, 7, 3, 3, 9])
    labels = np.array([0, 0, 0, 0, 0, 0])
    (weights,) = Resamples(labels, 100, groups).chunks()
    assert (weights[0] == weights[1]).all() and (weights[1] == weights[2]).all()
    assert (weights[3] == weights[4]).all()
    patients = weights[[0, 3, 5]].sum(axis=0)
    assert (patients == 3).all(), "as many patients as there are"
    assert len(set(weights.sum(axis=0))) > 1, "so the number of images varies"


def test_draws_are_the_same_each_time_and_differ_by_seed() -> None:
    labels = np.zeros(20, dtype=np.int64)

    def draw(seed: int) -> np.ndarray:
        return next(Resamples(labels, 5, seed=seed).chunks())

    assert (draw(1) == draw(1)).all()
    assert (draw(1) != draw(2)).any()


def test_large_tests_are_drawn_in_parts_of_bounded_size() -> None:
    labels = np.zeros(300_000, dtype=np.int64)
    sizes = [weights.shape for weights in Resamples(labels, 20).chunks()]
    assert sizes == [(300_000, 13), (300_000, 7)]
    assert draws_for(300_000, 10) == 200


def test_ten_right_of_ten_are_no_certainty() -> None:
    found = interval(1.0, np.ones(1000), units=10)
    # Clopper and Pearson: 0.025 ** (1 / 10) = 0.6915
    assert found.low == pytest.approx(0.6915, abs=0.02)
    assert found.high == 1.0


def test_none_right_of_ten_are_no_certainty_either() -> None:
    found = interval(0.0, np.zeros(1000), units=10)
    assert found.low == 0.0
    assert found.high == pytest.approx(1 - 0.6915, abs=0.02)


def test_draws_in_which_a_score_is_undefined_do_not_count() -> None:
    found = interval(0.5, np.array([0.4, np.nan, 0.6]), units=9)
    assert (found.low, found.high) == pytest.approx((0.405, 0.595))


def test_wilson_by_hand() -> None:
    # z² = 3.8415: (0.5 + 3.8415 / 20) / (1 + 3.8415 / 10) = 0.5, reach
    # 1.96 * sqrt(0.25 / 10 + 3.8415 / 400) / 1.38415 = 0.2634
    found = wilson(5, 10)
    assert (found.low, found.high) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(0, 10).low == 0.0 and wilson(0, 10).high == pytest.approx(
        0.2775, abs=1e-4
    )
