"""Area and sensitivity of one class against the rest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsemi.client.evaluate import metrics
from fedsemi.client.ranking import Ranking

# Ten others and four of the class, from the highest probability down:
#   0.95 class, 0.9 other, 0.85 class, 0.8 class, 0.7 other, 0.6 class, 0.5 … others
SCORE = np.array([0.95, 0.9, 0.85, 0.8, 0.7, 0.6, *[0.5 - 0.05 * k for k in range(8)]])
OWN = np.array([True, False, True, True, False, True, *[False] * 8])


def test_sensitivity_at_a_specificity_by_hand() -> None:
    ranking = Ranking.of(SCORE, OWN)
    at_90 = ranking.operating(0.9)
    # One of ten others may be called the class: 0.9. That finds 0.95, 0.85 and 0.8.
    assert at_90.sensitivity == 0.75
    assert at_90.specificity == pytest.approx(0.9)
    assert at_90.threshold == 0.8
    at_95 = ranking.operating(0.95)
    # None may, so only what lies above 0.9 is found.
    assert (at_95.sensitivity, at_95.specificity) == (0.25, 1.0)
    assert at_95.threshold == 0.95
    assert ranking.operating(0.8).sensitivity == 1.0


def test_a_threshold_does_what_its_line_says() -> None:
    at = Ranking.of(SCORE, OWN).operating(0.9)
    called = at.threshold <= SCORE
    assert called[OWN].mean() == at.sensitivity
    assert (~called)[~OWN].mean() == pytest.approx(at.specificity)


def test_a_class_below_all_others_is_found_by_no_specific_threshold() -> None:
    at = Ranking.of(
        np.array([0.9, 0.9, 0.1]), np.array([False, False, True])
    ).operating(0.9)
    assert at.sensitivity == 0.0 and at.specificity == 1.0
    assert at.threshold > 0.1


def test_equal_probabilities_are_called_together() -> None:
    score, own = np.full(20, 0.5), np.arange(20) < 10
    at = Ranking.of(score, own).operating(0.9)
    assert at.sensitivity == 0.0, "whoever calls one of them calls all"
    curve = Ranking.of(score, own).curve(np.ones((20, 1)))
    assert curve.area()[0] == 0.5


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_the_area_is_that_of_the_test_also_with_ties(pairs) -> None:
    score = np.array([value / 5 for value, _ in pairs])
    own = np.array([which for _, which in pairs])
    if own.all() or not own.any():
        return
    import torch

    probs = torch.from_numpy(np.stack([1 - score, score], axis=1))
    expected = metrics(probs, torch.from_numpy(own.astype(np.int64)), 2).auc
    found = Ranking.of(score, own).curve(np.ones((len(score), 1))).area()[0]
    assert found == pytest.approx(expected)


def test_a_weight_of_two_is_an_image_twice() -> None:
    rng = np.random.default_rng(0)
    score, own = rng.integers(8, size=30) / 8, rng.random(30) < 0.4
    weights = rng.integers(3, size=30)
    drawn = Ranking.of(score, own).curve(weights[:, None].astype(np.float32))
    twice = np.repeat(np.arange(30), weights)
    plain = Ranking.of(score[twice], own[twice]).curve(np.ones((len(twice), 1)))
    assert drawn.area()[0] == pytest.approx(plain.area()[0])
    for specificity in (0.5, 0.8, 0.9):
        both = drawn.sensitivity(specificity)[0], plain.sensitivity(specificity)[0]
        assert both[0] == pytest.approx(both[1])
