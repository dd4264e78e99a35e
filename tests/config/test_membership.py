from __future__ import annotations

from typing import Any

import pytest

from fedsemi.config.experiment import Experiment, make_experiment
from fedsemi.config.membership import Member, absent
from fedsemi.errors import ConfigError


def _experiment(*members: dict[str, Any], **sections: Any) -> Experiment:
    content = {
        "data": {"name": "synthetic"},
        "model": {"name": "resnet8"},
        "stages": [{"method": "semianagg", "rounds": 9}],
        **sections,
    }
    if members:
        content["membership"] = list(members)
    return make_experiment(content)


def test_a_site_takes_part_between_its_rounds():
    member = Member(2, joins=3, away=5, back=6, leaves=8)
    there = [round for round in range(1, 10) if member.absence(round) is None]
    assert there == [3, 4, 6, 7]


def test_only_who_leaves_is_gone_for_good():
    member = Member(2, joins=3, away=5, back=6, leaves=8)
    reasons = {
        round: (absence.reason, absence.for_good)
        for round in (2, 5, 8)
        if (absence := member.absence(round)) is not None
    }
    assert reasons == {
        2: ("has not come yet, as planned", False),
        5: ("is away, as planned", False),
        8: ("has left, as planned", True),
    }


def test_who_is_away_without_end_stays_away():
    assert Member(0, away=4).absence(4000) is not None


def test_several_entries_for_a_site_add_up():
    twice = [Member(1, away=2, back=3), Member(1, away=5, back=6)]
    assert [round for round in range(1, 8) if 1 in absent(twice, round)] == [2, 5]


def test_a_config_names_its_members_and_a_slip_is_refused():
    found = _experiment({"site": 2, "joins": 3}, {"site": 1, "leaves": 4})
    assert found.membership == [Member(2, joins=3), Member(1, leaves=4)]
    with pytest.raises(ConfigError, match=r"membership\.0\.join"):
        _experiment({"site": 2, "join": 3})


@pytest.mark.parametrize(
    "member",
    [
        {"joins": 4, "leaves": 4},
        {"joins": 4, "away": 3},
        {"away": 5, "back": 5},
        {"back": 5},
        {"away": 3, "back": 6, "leaves": 5},
    ],
)
def test_rounds_in_an_impossible_order_are_refused(member):
    with pytest.raises(ConfigError, match=r"FS4220 'membership\.0'"):
        _experiment({"site": 1, **member})


def test_masked_sums_know_their_sites_from_the_start():
    guard = {"enabled": True}
    with pytest.raises(ConfigError, match="FS4221"):
        _experiment({"site": 1, "joins": 2}, privacy={"masked": True}, guard=guard)


def test_an_experiment_without_the_list_keeps_its_name():
    assert _experiment().sha256 == _experiment(membership=[]).sha256
    assert _experiment({"site": 1, "joins": 2}).sha256 != _experiment().sha256
