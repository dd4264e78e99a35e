"""What comes first, worked by hand; and what holds for every rule and every pool."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsemi.asking.rules import (
    RULES,
    Pool,
    at_random,
    by_balance,
    by_coverage,
    by_uncertainty,
)

NONE = np.empty((0, 1))


def pool(probs=(), features=(), known=(0, 0), near=NONE, seed: int = 0) -> Pool:
    """Make a pool of two classes; what a test does not care about is plain."""
    places = np.array(features or [0] * len(probs), dtype=float)[:, None]
    table = np.array(probs or [[0.5, 0.5]] * len(features))
    return Pool(table, places, np.array(known), np.array(near), seed)


def test_uncertainty_asks_where_two_classes_are_closest() -> None:
    # Margins: 0.8, 0.1, 0.5, 0.1; of equals the first row comes first.
    probs = [[0.9, 0.1], [0.45, 0.55], [0.75, 0.25], [0.55, 0.45]]
    assert by_uncertainty(pool(probs), 3) == [1, 3, 2]


def test_a_third_likely_class_does_not_make_a_close_call_closer() -> None:
    # Margins 0.02 and 0.05, although the second has the flatter distribution.
    probs = np.array([[0.51, 0.49, 0.0], [0.37, 0.32, 0.31]])
    assert by_uncertainty(Pool(probs, probs, np.zeros(3, int), NONE), 1) == [0]


def test_coverage_goes_to_what_is_farthest_from_all_labels() -> None:
    # On a line, labeled at 0. Farthest: 10. Then from {0, 10}: 4 is 4 away, 9 only 1.
    found = by_coverage(pool(features=[1, 4, 9, 10], near=[[0.0]]), 4)
    assert found == [3, 1, 0, 2]


def test_coverage_without_labels_begins_in_the_middle() -> None:
    # The mean of 0, 1, 2, 9 is 3; 2 is nearest to it, and then 9 is the farthest.
    assert by_coverage(pool(features=[0, 1, 2, 9]), 3) == [2, 3, 0]


def test_coverage_takes_twins_last_but_takes_them() -> None:
    assert by_coverage(pool(features=[5, 5, 5, 0], near=[[5.0]]), 4) == [3, 0, 1, 2]


def test_balance_fills_up_the_class_that_lacks_labels() -> None:
    # Known: two of class 0, none of class 1. Rows 1 and 2 are taken for class 1, row 2
    # is the less sure; after both, classes are level and the first one is next.
    probs = [[0.6, 0.4], [0.1, 0.9], [0.4, 0.6], [0.8, 0.2]]
    assert by_balance(pool(probs, known=(2, 0)), 4) == [2, 1, 0, 3]


def test_balance_goes_on_when_no_picture_seems_to_be_of_the_rare_class() -> None:
    assert by_balance(pool([[0.9, 0.1], [0.6, 0.4]], known=(5, 0)), 2) == [1, 0]


def test_random_is_an_order_of_its_seed() -> None:
    features = list(range(30))
    first = at_random(pool(features=features, seed=1), 30)
    assert first == at_random(pool(features=features, seed=1), 30)
    assert first != at_random(pool(features=features, seed=2), 30)
    assert sorted(first) == features


@st.composite
def pools(draw) -> Pool:
    rows, classes = draw(st.integers(0, 25)), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    probs = rng.dirichlet(np.ones(classes), rows)
    # Few values, so that many lie at the same place.
    features = rng.integers(0, 3, (rows, 2)).astype(float)
    near = rng.integers(0, 3, (draw(st.integers(0, 4)), 2)).astype(float)
    return Pool(probs, features, rng.integers(0, 9, classes), near, 7)


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=60, deadline=None)
@given(pools(), st.integers(0, 30))
def test_every_rule_asks_for_different_pictures_and_more_only_at_the_end(
    name: str, some: Pool, budget: int
) -> None:
    found = RULES[name](some, budget)
    assert len(found) == min(budget, len(some)) == len(set(found))
    assert all(0 <= row < len(some) for row in found)
    assert RULES[name](some, budget + 1)[: len(found)] == found


@settings(max_examples=40, deadline=None)
@given(pools(), st.integers(1, 30))
def test_coverage_leaves_nothing_farther_away_than_its_last_step(
    some: Pool, budget: int
) -> None:
    """The promise of greedy k-center: what is left is nearer than what was taken."""
    found = by_coverage(some, budget)
    if not found or len(found) == len(some):
        return

    def reach(row: int, centers: np.ndarray) -> float:
        return float(np.linalg.norm(centers - some.features[row], axis=1).min())

    before = np.concatenate([some.known_features, some.features[found[:-1]]])
    if not len(before):  # the middle was the first and only step
        return
    all_centers = np.concatenate([before, some.features[found[-1:]]])
    left = set(range(len(some))) - set(found)
    assert max(reach(row, all_centers) for row in left) <= reach(found[-1], before)
