"""A test by kinds of images."""

from __future__ import annotations

import numpy as np
import pytest

from fedsemi.client.subgroups import banded, subgroups, tells_kinds

NAMES = ("a", "b")


def test_each_subgroup_is_measured_apart() -> None:
    labels = np.array([0] * 10 + [1] * 10 + [1] * 12)
    predicted = np.array([0] * 10 + [0] * 10 + [1] * 12)
    probs = np.eye(2)[predicted] * 0.8 + 0.1
    women, men = subgroups(probs, labels, ["f"] * 20 + ["m"] * 12, NAMES)
    assert (women.name, women.num) == ("f", 20)
    assert women.scores.accuracy.value == 0.5
    assert women.recall == (1.0, 0.0)
    assert men.recall == (None, 1.0)
    assert men.scores.missing == ("a",), "its mean is of the other class alone"
    assert men.scores.accuracy.low == pytest.approx(0.735, abs=0.02)  # 12 of 12


def test_of_a_subgroup_of_few_images_nothing_but_their_number_is_told() -> None:
    labels, probs = np.zeros(15, dtype=np.int64), np.tile([0.9, 0.1], (15, 1))
    few, _ = subgroups(probs, labels, ["other"] * 3 + ["z"] * 12, NAMES)
    assert (few.name, few.num, few.scores, few.recall) == ("other", 3, None, ())


def test_bands_come_in_their_order_and_the_unknown_last() -> None:
    words = banded([str(n) for n in (5, 15, 25, 33, 48, 55, 61, 100, 70, 90)] + [""])
    labels, probs = np.zeros(11, dtype=np.int64), np.tile([0.9, 0.1], (11, 1))
    names = [each.name for each in subgroups(probs, labels, words, NAMES)]
    assert names == ["0-19", "20-39", "40-59", "60-79", "80-99", "100-119", "unknown"]


def test_few_numbers_stay_as_they_are() -> None:
    assert banded(["1", "2", "3"]) == ("1", "2", "3")


def test_numbers_with_fractions_get_bands_that_meet() -> None:
    words = banded([f"{0.05 * k:.2f}" for k in range(20)])
    assert words[0] == "0-0.2" and words[-1] == "0.8-1"


def test_a_column_of_one_word_or_of_names_tells_no_kinds() -> None:
    assert not tells_kinds(["f"] * 30)
    assert not tells_kinds([f"image {n}" for n in range(30)])
