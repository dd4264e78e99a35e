"""Scores of attackers, with numbers worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from fedsemi.leakage.scores import (
    FEWEST_NEGATIVES,
    auc,
    caught,
    constant_guess,
    estimate,
    on_simplex,
    owner_auc,
    total_variation,
)


def test_a_score_that_separates_has_auc_one_and_its_opposite_zero() -> None:
    high, low = np.array([3.0, 4.0]), np.array([1.0, 2.0])
    assert auc(high, low) == 1.0 and auc(low, high) == 0.0
    assert auc(high, high) == 0.5


def test_who_knows_only_which_class_is_frequent_owns_no_auc() -> None:
    # Class 0 is everywhere but at one site, class 1 at one site only.
    owns = np.array([[True, False], [True, False], [True, True], [False, False]])
    frequent = np.tile([0.75, 0.25], (4, 1))
    assert owner_auc(frequent, owns) == 0.5
    assert owner_auc(owns.astype(float), owns) == 1.0


def test_there_is_no_auc_where_all_sites_own_the_same() -> None:
    assert owner_auc(np.ones((3, 2)), np.ones((3, 2), dtype=bool)) is None


def test_the_rate_at_one_percent_lets_one_of_a_hundred_outsiders_pass() -> None:
    outside = np.arange(1000.0)
    # Ten outsiders, 990 to 999, may pass: whoever is above 989 is found.
    assert caught(np.array([980.0, 989.0, 989.5, 2000.0]), outside) == 0.5


def test_a_rate_that_would_hang_on_a_few_outsiders_is_not_given() -> None:
    assert caught(np.ones(5), np.zeros(FEWEST_NEGATIVES - 1)) is None
    assert caught(np.ones(5), np.zeros(FEWEST_NEGATIVES)) == 1.0


def test_total_variation_is_the_share_of_images_in_a_wrong_class() -> None:
    guess, truth = np.array([[0.5, 0.5, 0.0]]), np.array([[0.2, 0.5, 0.3]])
    assert total_variation(guess, truth) == pytest.approx(0.3)
    assert total_variation(truth, truth) == 0.0


def test_no_other_constant_guess_is_nearer_to_the_sites() -> None:
    random = np.random.default_rng(1)
    shares = random.dirichlet([0.3] * 5, 200)
    best = constant_guess(shares)
    assert best.sum() == pytest.approx(1)

    def miss(guess: np.ndarray) -> float:
        return total_variation(np.tile(guess, (200, 1)), shares)

    others = [shares.mean(0), np.full(5, 0.2), *random.dirichlet([5.0] * 5, 300)]
    assert miss(best) <= min(map(miss, others)) + 1e-3


def test_a_guess_is_made_a_histogram_and_nothing_known_is_uniform() -> None:
    made = on_simplex(np.array([[2.0, -1.0, 2.0], [-1.0, 0.0, -2.0]]))
    assert made.tolist() == [[0.5, 0.0, 0.5], pytest.approx([1 / 3] * 3)]


def test_the_interval_is_students_over_seeds_and_stays_a_share() -> None:
    found = estimate([0.5, 0.6, 0.7])
    # sd 0.1, error 0.1 / √3, t(0.975, 2) = 4.3027
    assert found.mean == pytest.approx(0.6)
    assert found.low == pytest.approx(0.6 - 4.3027 * 0.1 / 3**0.5, abs=1e-4)
    assert estimate([0.9, 1.0]).high == 1.0
    assert estimate([0.7]).low is None
