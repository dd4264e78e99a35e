"""The dose of Q3, worked by hand."""

from __future__ import annotations

from tests.evidence.by_hand import Scores, answer, evidence_of

from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import MAIN, QUESTIONS

ARMS = [each.arm for each in QUESTIONS["q3-dose"].settings]


def doses(*values: float) -> Scores:
    return {setting("mnist", arm, **MAIN): [*values] for arm in ARMS}


def test_the_dose_names_the_share_of_the_site_that_alone_holds_classes(
    medium: Profile,
) -> None:
    scores = doses(0.8)
    found = answer("q3-dose", evidence_of(medium, scores))
    assert "power 0: 0.100; power 0.5: 0.100; power 1: 0.100" in found.text[1]
    del scores[setting("mnist", "presence-fourfold", **MAIN)]
    partly = answer("q3-dose", evidence_of(medium, scores))
    assert len(partly.text) == 1  # shares of different seeds are not put together


def test_a_curve_is_drawn_by_both_scores_from_five_seeds_that_all_doses_share(
    medium: Profile,
) -> None:
    few = answer("q3-dose", evidence_of(medium, doses(0.8, 0.8, 0.8, 0.8)))
    assert [plot["kind"] for plot in few.plots] == ["intervals"]
    scores = doses(0.80, 0.81, 0.82, 0.83, 0.84)
    # A sixth seed that others do not have moves nothing.
    scores[setting("mnist", "uniform", **MAIN)].append(0.1)
    found = answer("q3-dose", evidence_of(medium, scores, lead=0.05))
    first, second, _ = found.plots
    assert [dot["name"] for dot in first["points"]] == ["0", "0.5", "1", "2", "4"]
    assert {(dot["x"], dot["y"]) for dot in first["points"]} == {(0.1, 82.0)}
    assert {dot["y"] for dot in second["points"]} == {87.0}
    assert "running mean" in second["title"] and "the 5 seeds" in second["note"]


def test_without_a_run_nothing_is_claimed(medium: Profile) -> None:
    found = answer("q3-dose", evidence_of(medium, {}))
    assert found.finding == "not run" and "No dose was run yet" in found.text[0]
