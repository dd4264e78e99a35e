"""A rule is chosen as it was written down."""

from __future__ import annotations

from pathlib import Path

from tests.evidence.by_hand import Scores, answer, evidence_of

from fedsemi.evidence.answers_rules import chosen, levels_of
from fedsemi.evidence.arms import ARMS
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.profiles import Profile, read_profile
from fedsemi.evidence.questions import CHOOSING, CHOSEN, MAIN
from fedsemi.evidence.records import read_records
from fedsemi.evidence.results import Evidence

ROOT = Path(__file__).parents[2]
TWO = MAIN | {"rare.holders": 2}


def both(**scores: list[float]) -> Scores:
    """Give arms the same scores with one holder and with two."""
    return {
        setting("mnist", arm.replace("_", "-"), **place): [*some]
        for arm, some in scores.items()
        for place in (MAIN, TWO)
    }


def test_what_was_chosen_is_what_the_records_of_choosing_choose() -> None:
    source = read_profile(CHOOSING, [])
    records = read_records(ROOT / "results" / CHOOSING)
    levels, seeds = levels_of(Evidence(source, source.seeds, records))
    assert seeds == source.seeds == 5
    assert chosen(levels) == CHOSEN


def test_nothing_is_chosen_by_what_judges(medium: Profile) -> None:
    found = answer("q6", evidence_of(medium, both(uniform=[0.78])))
    assert found.finding == "chosen with other seeds, here not run" and not found.rows
    assert found.text == ("Class mass was chosen, with the profile `choosing`.",)


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
