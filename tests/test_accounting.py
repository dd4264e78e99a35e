"""ε of Gaussian noise is exact, and agrees with an accountant of others."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsemi.accounting import cost, delta_of, epsilon

# By dp-accounting 0.6.0, PLDAccountant with a grid of 1e-5: (σ, releases, δ, ε).
PLD = [
    (1.0, 1, 1e-5, 4.377178096),
    (1.0, 100, 1e-5, 91.817289613),
    (5.0, 10, 1e-5, 2.594383381),
    (10.0, 50, 1e-6, 3.307600723),
    (0.5, 3, 1e-5, 20.125023546),
]


@pytest.mark.parametrize(("noise", "releases", "delta", "found"), PLD)
def test_epsilon_is_that_of_another_accountant(noise, releases, delta, found) -> None:
    assert epsilon(releases * cost(noise), delta) == pytest.approx(found, rel=1e-8)


def test_epsilon_is_that_of_the_library_where_it_is_installed() -> None:
    library = pytest.importorskip("dp_accounting")
    from dp_accounting import pld

    for noise, releases, delta, _ in PLD:
        accountant = pld.PLDAccountant(value_discretization_interval=1e-5)
        accountant.compose(library.GaussianDpEvent(noise), releases)
        theirs = accountant.get_epsilon(delta)
        assert epsilon(releases * cost(noise), delta) == pytest.approx(theirs, rel=1e-7)


@given(st.floats(1e-4, 1e4), st.floats(1e-12, 0.5))
def test_delta_at_epsilon_is_not_above_what_was_asked_for(costs, delta) -> None:
    found = epsilon(costs, delta)
    assert delta_of(found, costs) <= delta
    if found > 1e-6:
        assert delta_of(found * (1 - 1e-6), costs) > delta * (1 - 1e-9)


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_more_releases_never_cost_less(first, second) -> None:
    assert epsilon(first + second, 1e-5) >= epsilon(first, 1e-5)


def test_where_nothing_is_promised_epsilon_is_still_a_number_and_no_smaller() -> None:
    assert 0.5e8 < epsilon(1e8, 1e-5) < epsilon(1.0001e8, 1e-5) < 0.51e8
    assert math.isfinite(epsilon(1e18, 1e-5))


def test_no_noise_is_no_bound_and_no_release_costs_nothing() -> None:
    assert epsilon(cost(0.0), 1e-5) == math.inf
    assert epsilon(0.0, 1e-5) == 0
