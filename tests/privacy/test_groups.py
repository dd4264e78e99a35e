"""Groups of a round: everybody in one, none too small, and nobody chooses them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.privacy.groups import Deal
from fedsemi.privacy.rules import Rules

SITES = st.sets(st.integers(0, 200), min_size=3, max_size=40)
BY_HAND = Deal(((0, 1, 2, 3), (4, 5, 6), (7, 8, 9)))


def dealt(sites, rules=None, round=0) -> Deal:
    return Deal.of("model", sites, rules or Rules(groups=3), round)


@given(SITES, st.integers(1, 6), st.integers(3, 5), st.integers(0, 99))
def test_every_site_is_in_one_group_and_no_group_is_too_small(
    sites, groups, least, round
) -> None:
    rules = Rules(least, groups=groups)
    found = dealt(sites, rules, round).groups
    assert sorted(site for group in found for site in group) == sorted(sites)
    assert 1 <= len(found) <= groups
    if len(found) > 1:
        assert min(map(len, found)) >= least
    assert max(map(len, found)) - min(map(len, found)) <= 1


@given(SITES, st.integers(0, 99))
def test_whoever_deals_finds_the_same_groups_in_whatever_order(sites, round) -> None:
    assert dealt(sorted(sites), round=round) == dealt(sorted(sites)[::-1], round=round)


def test_rounds_and_plans_are_dealt_anew() -> None:
    ten = range(10)
    assert len({dealt(ten, round=round) for round in range(20)}) > 15
    assert dealt(ten) != dealt(ten, Rules(groups=3, seed=1))


def test_each_two_sites_meet_as_often_as_chance_has_it() -> None:
    """Of ten sites in 4, 3 and 3, two are together with (6 + 3 + 3) / 45."""
    rounds = 3000
    met = sum(1 in dealt(range(10), round=r).of_site(0) for r in range(rounds))
    assert met / rounds == pytest.approx(12 / 45, abs=0.03)


@given(st.sets(st.integers(0, 200), min_size=12, max_size=40), st.data())
def test_a_site_that_is_called_lost_moves_borders_and_deals_nobody_anew(
    sites, data
) -> None:
    """A server that wants two sites together would have to lose all between them."""
    before = dealt(sites)
    lost = data.draw(st.sampled_from(sorted(sites)))
    place = {site: i for i, group in enumerate(before.groups) for site in group}
    for i, group in enumerate(dealt(sites - {lost}).groups):
        assert all(abs(place[site] - i) <= 1 for site in group)
        assert sum(place[site] != i for site in group) <= 2


def test_claims_are_one_sum_over_all() -> None:
    rules = Rules(groups=3)
    assert Deal.of("claims", range(9), rules, 0).groups == (tuple(range(9)),)


def test_a_group_below_the_agreed_number_is_not_summed() -> None:
    came = {0, 1, 2, 4, 5, 7, 8, 9}
    assert BY_HAND.summed(came, Rules()) == ((0, 1, 2), (), (7, 8, 9))


def test_who_sums_nothing_helps_all_the_same_and_loses_no_secret() -> None:
    summed = (0, 1, 2, 7, 8, 9)
    assert BY_HAND.voters(summed) == {0, 1, 2, 4, 5, 6, 7, 8, 9}
    assert BY_HAND.missing(summed) == (3,)


@pytest.mark.parametrize("sites", [(), (0, 1, 4, 5, 6), (0, 1, 2, 7)])
def test_a_set_with_a_piece_of_a_group_is_refused(sites: tuple[int, ...]) -> None:
    with pytest.raises(ProtocolError, match="FS6004"):
        BY_HAND.check(sites, Rules(groups=3), 10)


def test_too_few_sites_for_two_groups_are_an_error_of_the_config() -> None:
    Rules(groups=2).check_company(6)
    Rules(4).check_company(4)
    with pytest.raises(ConfigError, match=r"FS6020 .* needs 6 sites.* 5 take part"):
        Rules(groups=3).check_company(5)
