"""The questions ask for the runs that docs/questions.md promises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fedsemi
from fedsemi.errors import ConfigError
from fedsemi.evidence.arms import ARMS
from fedsemi.evidence.profiles import read_profile
from fedsemi.evidence.questions import HOLDERS, LABELS, MAIN, QUESTIONS

PAGE = Path(fedsemi.__file__).parents[2] / "docs" / "questions.md"


def test_the_first_question_is_the_papers_setting_with_every_control() -> None:
    settings = QUESTIONS["q1"].settings
    assert {each.dataset for each in settings} == {"svhn"}
    assert all(each.partition == () for each in settings)
    arms = {each.arm for each in settings}
    assert arms >= {"warm-up", "upper", "uniform", "presence", "permuted", "semianagg"}


def test_the_second_asks_the_same_where_one_site_holds_half_of_the_classes() -> None:
    settings = QUESTIONS["q2"].settings
    assert {each.partition for each in settings} == {tuple(sorted(MAIN.items()))}
    first = {each.arm for each in QUESTIONS["q1"].settings}
    assert {each.arm for each in settings} == first - {"fedavg-semi"}


def test_the_map_has_fifteen_places_with_a_pair_of_arms_in_each() -> None:
    # Three numbers of holders, each with three of labels, a skew and more sites.
    settings = QUESTIONS["q3"].settings
    assert len(settings) == 2 * 3 * (3 + 2) == 30
    places = {each.partition for each in settings}
    assert len(places) == 15
    for place in places:
        pair = {each.arm for each in settings if each.partition == place}
        assert pair == {"uniform", "semianagg"}
    assert {each.partition for each in QUESTIONS["q3"].tests} == places


def test_the_map_varies_one_thing_at_a_time_beside_labels_and_holders() -> None:
    for each in QUESTIONS["q3"].settings:
        place = dict(each.partition)
        assert place.pop("rare.holders") in HOLDERS
        labels = place.pop("rare.labeled_size")
        assert labels in LABELS and (not place or labels == MAIN["rare.labeled_size"])
        assert len(place) <= 1


def test_the_dose_rises_from_no_weighting_to_the_fourth_power() -> None:
    doses = [
        ARMS[each.arm].steps[-1].settings.get("sharpness", 1.0)
        for each in QUESTIONS["q3-dose"].settings[1:]
    ]
    assert QUESTIONS["q3-dose"].settings[0].arm == "uniform"
    assert doses == [0.5, 1.0, 2.0, 4.0]


def test_worth_leaves_out_each_unlabeled_site_once() -> None:
    whole, *rest = QUESTIONS["q5"].settings
    assert whole.without is None
    assert [each.without for each in rest] == list(range(1, 10))
    assert {(each.arm, each.partition) for each in rest} == {
        (whole.arm, whole.partition)
    }


def test_every_setting_of_a_question_makes_a_valid_config() -> None:
    medium = read_profile("medium")
    for question in QUESTIONS.values():
        medium.check_covers(question.settings)
        for each in question.settings:
            made = medium.experiment(each, 1)
            rare = {k: v for k, v in each.partition if k.startswith("rare.")}
            for key, value in rare.items():
                assert getattr(made.partition.rare, key[5:]) == value


def test_a_profile_without_the_data_says_which_one_has_it() -> None:
    small = read_profile("small")
    assert small.covers(QUESTIONS["q1"].settings)
    assert not small.covers(QUESTIONS["q2"].settings)
    with pytest.raises(ConfigError, match=r"FS4104 .*has no 'mnist'.*--profile medium"):
        small.check_covers(QUESTIONS["q2"].settings)


def test_each_question_stands_on_the_page_that_was_written_before() -> None:
    asked = set(re.findall(r"^## (Q\d)", PAGE.read_text("utf-8"), re.M))
    assert asked == {name[:2].upper() for name in QUESTIONS}
