"""Whether two measures put clients in the same order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from fedsemi.report.ranks import correlations, ranks, spearman

NUMBERS = st.lists(st.integers(-5, 5), min_size=4, max_size=9)


def test_ties_share_their_mean_rank() -> None:
    assert ranks(np.array([7.0, 1.0, 7.0, 3.0])).tolist() == [2.5, 0, 2.5, 1]


@settings(deadline=None)
@given(NUMBERS)
def test_spearman_matches_scipy(numbers: list[int]) -> None:
    x = np.array(numbers, dtype=float)
    y = x[::-1] + 0.5 * np.arange(len(x))
    found = spearman(x, y)
    if found is None:
        assert len(set(x)) == 1 or len(set(y)) == 1
    else:
        assert found == pytest.approx(spearmanr(x, y).statistic)


def test_the_same_order_correlates_fully_and_rarely_by_chance() -> None:
    values = np.arange(9.0)
    (found,) = correlations({"a": values, "b": values**3})
    assert found.rho == pytest.approx(1)
    assert found.p is not None
    assert found.p < 0.01
    assert found.clients == 9


def test_a_measure_that_is_equal_for_all_has_no_correlation() -> None:
    (found,) = correlations({"a": np.ones(5), "b": np.arange(5.0)})
    assert found.rho is None


def test_clients_that_one_measure_lacks_are_left_out() -> None:
    a = np.array([np.nan, 1, 2, 3, 4])
    (found,) = correlations({"a": a, "b": np.arange(5.0)})
    assert found.clients == 4
