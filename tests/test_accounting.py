"""ε of Gaussian noise is exact, and agrees with an accountant of others."""

from __future__ import annotations

import math
import sys

import dp_accounting
import mpmath
import pytest
from dp_accounting import pld
from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsemi.accounting import check_accountant, cost, epsilon
from fedsemi.errors import ConfigError

# By the PLD accountant of dp-accounting 0.6.0 with a grid of 1e-5: (σ, releases, δ, ε).
PLD = [
    (1.0, 1, 1e-5, 4.377178096),
    (1.0, 100, 1e-5, 91.817289613),
    (5.0, 10, 1e-5, 2.594383381),
    (10.0, 50, 1e-6, 3.307600723),
    (0.5, 3, 1e-5, 20.125023546),
]


def delta_of(at: float, costs: float) -> float:
    """Ask the library for δ at ε of one release with these costs."""
    loss = GaussianPrivacyLoss(standard_deviation=costs**-0.5)
    return float(loss.get_delta_for_epsilon(at))


@pytest.mark.parametrize(("noise", "releases", "delta", "found"), PLD)
def test_epsilon_is_that_of_the_accountant_by_grids(
    noise, releases, delta, found
) -> None:
    assert epsilon(releases * cost(noise), delta) == pytest.approx(found, rel=1e-8)


def test_releases_compose_as_the_library_composes_them() -> None:
    accountant = pld.PLDAccountant(value_discretization_interval=1e-3)
    for noise, releases in ((5.0, 10), (20.0, 3)):
        accountant.compose(dp_accounting.GaussianDpEvent(noise), releases)
    ours = epsilon(10 * cost(5.0) + 3 * cost(20.0), 1e-5)
    assert accountant.get_epsilon(1e-5) == pytest.approx(ours, rel=1e-5)


@settings(deadline=None, max_examples=25)
@given(st.floats(1e-3, 1e4), st.floats(0.0, 1.0))
def test_delta_is_the_formula_of_balle_and_wang(costs, part) -> None:
    """With fifty digits: Φ(μ/2 - ε/μ) - exp(ε) Φ(-μ/2 - ε/μ), μ² being the costs."""
    at = part * epsilon(costs, 1e-9)
    with mpmath.workdps(50):
        mu = mpmath.sqrt(costs)
        first = mpmath.ncdf(mu / 2 - at / mu)
        exact = first - mpmath.exp(at) * mpmath.ncdf(-mu / 2 - at / mu)
    assert delta_of(at, costs) == pytest.approx(float(exact), rel=1e-6, abs=1e-14)


def test_without_the_library_noise_is_refused_in_a_line(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    monkeypatch.delitem(
        sys.modules, "dp_accounting.pld.privacy_loss_mechanism", raising=False
    )
    with pytest.raises(ConfigError, match=r"FS6114.*fedsemi\[private\]"):
        check_accountant()


@settings(deadline=None, max_examples=25)
@given(st.floats(1e-4, 1e4), st.floats(1e-12, 0.5))
def test_delta_at_epsilon_is_not_above_what_was_asked_for(costs, delta) -> None:
    found = epsilon(costs, delta)
    assert delta_of(found, costs) <= delta
    if found > 1e-6:
        assert delta_of(found * (1 - 1e-6), costs) > delta * (1 - 1e-9)


@settings(deadline=None, max_examples=25)
@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_more_releases_never_cost_less(first, second) -> None:
    assert epsilon(first + second, 1e-5) >= epsilon(first, 1e-5)


def test_where_nothing_is_promised_epsilon_is_still_a_number_and_no_smaller() -> None:
    assert 0.5e8 < epsilon(1e8, 1e-5) < epsilon(1.0001e8, 1e-5) < 0.51e8
    assert math.isfinite(epsilon(1e18, 1e-5))


def test_no_noise_is_no_bound_and_no_release_costs_nothing() -> None:
    assert epsilon(cost(0.0), 1e-5) == math.inf
    assert epsilon(0.0, 1e-5) == 0
