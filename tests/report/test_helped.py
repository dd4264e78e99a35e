"""The sentence about unlabeled sites, in each of its wordings."""

from __future__ import annotations

import pytest

from fedsemi.report.helped import Case, Difference, helped, louder
from fedsemi.runs.silence import Silence

IMAGES = "899 test images; other seeds and rounds may differ"


def test_an_interval_above_zero_is_help() -> None:
    case = Case(Difference(86.34, 80.11, 4.12, 8.31, IMAGES))
    assert helped(case) == (
        "The unlabeled sites helped: accuracy 86.3 %, with labels alone 80.1 % (+6.2 "
        "points, 95 % interval +4.1 to +8.3 over 899 test images; other seeds and "
        "rounds may differ)."
    )


def test_an_interval_below_zero_is_harm() -> None:
    case = Case(Difference(70.0, 75.0, -8.0, -2.0, "5 seeds"))
    assert helped(case) == (
        "The unlabeled sites hurt: accuracy 70.0 %, with labels alone 75.0 % (-5.0 "
        "points, 95 % interval -8.0 to -2.0 over 5 seeds)."
    )


@pytest.mark.parametrize(("low", "high"), [(-1.0, 3.0), (0.0, 2.0), (-2.0, 0.0)])
def test_an_interval_with_zero_in_it_decides_nothing(low: float, high: float) -> None:
    case = Case(Difference(71.0, 70.0, low, high, "3 seeds"))
    assert helped(case).startswith(
        "It is undecided whether the unlabeled sites helped: accuracy 71.0 %, with "
        "labels alone 70.0 % (+1.0 points, 95 % interval "
    )


def test_help_in_accuracy_that_rare_classes_pay_for_is_said() -> None:
    found = Difference(67.7, 63.4, 3.0, 5.6, "3 seeds", balanced=-3.9)
    assert helped(Case(found)).endswith(
        "over 3 seeds). But balanced accuracy, in which rare classes count as much as "
        "others, moved the other way: -3.9 points."
    )


def test_a_last_round_that_is_not_like_those_before_says_so() -> None:
    lucky = Difference(92.2, 81.9, 7.1, 13.4, "360 test images", usual=5.5)
    assert helped(Case(lucky)).endswith(
        "over 360 test images). But it is +5.5 points on average over the last tests: "
        "rounds swing, so compare over seeds before you believe a single one."
    )
    usual = Difference(92.2, 81.9, 7.1, 13.4, "360 test images", usual=7.2)
    assert "rounds swing" not in helped(Case(usual))


@pytest.mark.parametrize("balanced", [3.9, 0.0, -0.9])
def test_balanced_accuracy_that_moves_along_or_hardly_is_not_mentioned(
    balanced: float,
) -> None:
    found = Difference(67.7, 63.4, 3.0, 5.6, "3 seeds", balanced)
    assert "alanced" not in helped(Case(found))


def test_without_an_interval_nothing_is_called_sure() -> None:
    case = Case(Difference(71.0, 70.0, None, None, "one seed has no interval"))
    assert helped(case) == (
        "How sure it is that the unlabeled sites helped cannot be said: accuracy "
        "71.0 %, with labels alone 70.0 % (+1.0 points; one seed has no interval)."
    )


def test_what_is_missing_is_named_with_what_to_do() -> None:
    case = Case(missing="nothing is there; `do this` makes it", who="unlabeled images")
    assert helped(case) == (
        "Whether the unlabeled images helped cannot be said: nothing is there; `do "
        "this` makes it."
    )


CONFIG = {
    "stages": [
        {"method": "supervised", "rounds": 2},
        {"method": "semianagg", "rounds": 9, "learner": {"cutoff": 0.95}},
    ]
}


def test_nobody_who_contributed_can_have_helped_whatever_was_measured() -> None:
    silence = Silence(9, 9)
    case = Case(
        Difference(1.0, 2.0, -1.5, -0.5, "3 seeds"),
        "",
        silence,
        louder(CONFIG, silence),
    )
    assert helped(case) == (
        "The unlabeled sites did not help: none of them contributed in 9 of 9 "
        "rounds, as no pseudo-label was confident enough; lower "
        "stages.1.learner.cutoff (now 0.95) or give the warm-up more rounds "
        "(stages.0.rounds, now 2). Measured: accuracy 1.0 %, with labels alone 2.0 %."
    )


def test_pseudo_labels_that_did_not_count_have_another_remedy() -> None:
    silence = Silence(9, 9, num_pseudo=40)
    text = helped(Case(silence=silence, remedy=louder(CONFIG, silence)))
    assert "though some had confident pseudo-labels; look at labeled_share" in text


def test_without_a_warm_up_one_is_proposed() -> None:
    config = {"stages": [{"method": "semianagg", "rounds": 9}]}
    assert louder(config, Silence(9, 9)) == (
        "begin with a warm-up, a stage of supervised"
    )


def test_one_round_that_somebody_contributed_to_is_not_silence() -> None:
    case = Case(missing="nothing is there", silence=Silence(8, 9))
    assert helped(case).startswith("Whether")
