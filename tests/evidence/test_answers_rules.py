"""Rules are compared with Eq. 4 and equal shares, those that were run."""

from __future__ import annotations

from tests.evidence.by_hand import Scores, answer, evidence_of

from fedsemi.evidence.arms import ARMS
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.profiles import Profile, read_profile
from fedsemi.evidence.questions import MAIN

TWO = MAIN | {"rare.holders": 2}


def both(**scores: list[float]) -> Scores:
    """Give arms the same scores with one holder and with two."""
    return {
        setting("mnist", arm.replace("_", "-"), **place): [*some]
        for arm, some in scores.items()
        for place in (MAIN, TWO)
    }


def test_a_rule_that_beats_eq_4_in_every_seed_is_told_with_its_lead(
    medium: Profile,
) -> None:
    scores = both(
        semianagg=[0.80, 0.82, 0.84],
        uniform=[0.78, 0.80, 0.82],
        class_mass=[0.83, 0.85, 0.87],
    )
    found = answer("q6", evidence_of(medium, scores))
    assert found.text[0].startswith("Class mass − SemiAnAgg, 1 holder: +3.00 points")
    shown = [row[0] for row in found.rows]
    assert shown == [
        "Class mass − SemiAnAgg, 1 holder",
        "Class mass − SemiAnAgg, 2 holders",
        "Class mass − uniform, 1 holder",
        "Class mass − uniform, 2 holders",
    ]
    assert "Presence" not in found.finding


def test_a_rule_that_was_run_for_another_question_is_not_judged(
    medium: Profile,
) -> None:
    scores = both(semianagg=[0.8], uniform=[0.78])
    scores[setting("mnist", "presence-double", **MAIN)] = [0.9]
    found = answer("q6", evidence_of(medium, scores))
    assert found.finding == "not run" and not found.rows
    assert found.text == ("No rule has been chosen yet, so none is judged.",)


def test_a_choice_takes_the_simplest_rule_within_three_tenths_of_the_best() -> None:
    choosing = read_profile("choosing", [])
    scores = both(
        uniform=[0.78],
        semianagg=[0.80],
        presence=[0.80],
        class_mass=[0.81],
        presence_floor=[0.812],
        class_mass_floor=[0.80],
        presence_double=[0.79],
    )
    found = answer("q6", evidence_of(choosing, scores))
    assert found.text[-1].endswith("written down: Class mass.")
    assert "over 1 seed: Uniform weights (control) 78.00;" in found.text[-1]
    scores |= both(presence_floor=[0.814])
    found = answer("q6", evidence_of(choosing, scores))
    assert found.text[-1].endswith(f"{ARMS['presence-floor'].title}.")


def test_nothing_is_chosen_before_a_seed_has_all_arms() -> None:
    choosing = read_profile("choosing", [])
    scores = both(uniform=[0.78], semianagg=[0.80], class_mass=[0.81])
    found = answer("q6", evidence_of(choosing, scores))
    assert found.text[-1].endswith("so nothing is chosen.")
