"""A short answer says where it is yes, where no, and where it is open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fedsemi.evidence.effects import Effect
from fedsemi.evidence.short import (
    NO,
    OPEN,
    TRADE,
    YES,
    Part,
    doubted,
    gathered,
    part_of,
    parts_of,
)
from fedsemi.evidence.stats import paired


def effect(*differences: float, planned: int = 3, **second: list[float]) -> Effect:
    """Make an effect of these differences, and of others by the running mean."""
    tests = {"accuracy": paired(differences, [0.0] * len(differences))}
    for values in second.values():
        tests["running_mean.accuracy"] = paired(values, [0.0] * len(values))
    return Effect("a − b", tests, planned)


@pytest.mark.parametrize(
    ("differences", "word"),
    [
        ([2.0, 2.1, 2.2], YES),
        ([-2.0, -2.1, -2.2], NO),
        ([0.1, 0.0, -0.1], NO),  # within half a point
        ([0.1, 0.11, 0.12], NO),  # above zero, and too small to matter
        ([2.0, -2.0, 1.0], OPEN),
    ],
)
def test_a_gain_worth_having_is_a_yes_and_a_wide_interval_is_open(
    differences: list[float], word: str
) -> None:
    assert part_of("SVHN", effect(*differences)).word == word


def test_planned_seeds_that_are_missing_leave_it_open_and_say_so() -> None:
    found = part_of("SVHN", effect(2.0, 2.1, 2.2, planned=5))
    told = "SVHN +2.10 (+1.85 to +2.35), 3 of 5 seeds so far"
    assert (found.word, found.told) == (OPEN, told)
    assert found.brief == "SVHN +2.10, 3 of 5 seeds so far"
    alone = part_of("SVHN", effect(2.0, planned=1))
    assert alone == Part(OPEN, "SVHN +2.00", "SVHN +2.00")


def test_a_loss_that_is_early_is_not_called_small() -> None:
    found = part_of("SVHN", effect(-10.0, -11.0, -10.5, planned=5))
    assert found.word == OPEN and "within" not in found.told


def test_what_goes_on_may_be_a_gain_or_a_loss_before_it_ends_but_no_tie() -> None:
    words = [
        part_of("SVHN", replace(effect(*some), most=9)).word
        for some in ([2.0, 2.1, 2.2], [-2.0, -2.1, -2.2], [0.1, 0.0, -0.1])
    ]
    assert words == [YES, NO, OPEN]
    tie = replace(effect(0.1, 0.11, 0.12), most=9)
    told = part_of("SVHN", tie).told
    assert told.endswith("within ±0.5 so far, 3 of at most 9 seeds")
    assert tie.finding == "decided, above zero but too small to matter so far"


def test_what_was_not_run_is_open() -> None:
    nothing = Effect("a − b", {"accuracy": None}, planned=3)
    assert part_of("SVHN", nothing) == Part(OPEN, "SVHN not run", "SVHN not run")


def test_a_lead_says_if_the_other_score_does_not_share_it() -> None:
    found = part_of("SVHN", effect(2.0, 2.1, 2.2, second=[-1.0, -1.1, -1.2]))
    assert found.word == YES
    assert found.told.endswith("to +2.35), the opposite by the running mean")
    assert found.brief == "SVHN +2.10 †"


def test_a_gain_that_is_a_loss_by_another_metric_is_a_trade() -> None:
    metrics = {"accuracy": paired([-3.0, -3.1], [0, 0]), "AUC": paired([1, -1], [0, 0])}
    found = part_of("ISIC-18", replace(effect(2.0, 2.1, 2.2), metrics=metrics))
    assert found.told.endswith("to +2.35), the opposite by accuracy")
    assert (found.word, found.brief) == (TRADE, "ISIC-18 +2.10 †")
    lost = {"AUC": paired([3.0, 3.1], [0, 0])}
    assert part_of("a", replace(effect(-2.0, -2.1, -2.2), metrics=lost)).word == TRADE
    assert part_of("a", replace(effect(2.0, 2.1, 2.2), metrics=lost)).word == YES


def test_what_a_second_control_says_is_marked_once() -> None:
    yes, none = Part(YES, "a +1.00", "a +1.00 †"), paired([1.0, -1.0], [0, 0])
    told = "a +1.00; not over b, +0.00 (−12.71 to +12.71)"
    assert doubted(yes, "b", none) == Part(YES, told, "a +1.00 †")
    assert doubted(Part(YES, "a", "a"), "b", none).brief == "a †"


def test_only_a_yes_is_doubted_and_one_seed_doubts_nothing() -> None:
    yes, maybe = Part(YES, "a +1.00", "a +1.00"), Part(OPEN, "a +1.00", "a +1.00")
    assert doubted(maybe, "b", paired([1.0, -1.0], [0, 0])) == maybe
    for test in (None, paired([3.0], [0.0]), paired([3.0, 3.1], [0, 0])):
        assert doubted(yes, "b", test) == yes


def test_a_mark_says_that_the_other_score_would_be_answered_otherwise() -> None:
    same = part_of("SVHN", effect(0.1, 0.0, -0.1, second=[0.1, 0.11, 0.12]))
    assert (same.word, same.brief) == (NO, "SVHN +0.00")  # small by both scores
    other = part_of("SVHN", effect(0.1, 0.0, -0.1, second=[2.1, 2.2, 2.3]))
    assert (other.word, other.brief) == (NO, "SVHN +0.00 †")


def test_an_open_answer_says_if_the_other_score_is_not_open() -> None:
    found = part_of("SVHN", effect(2.0, -2.0, 1.0, second=[-1.0, -1.1, -1.2]))
    assert found.word == OPEN
    assert found.told.endswith(", by the running mean −1.10 (−1.35 to −0.85)")


def test_a_gain_that_is_too_small_to_matter_says_that_it_is_one() -> None:
    found = part_of("SVHN", effect(0.1, 0.11, 0.12))
    assert found.told == "SVHN +0.11 (+0.09 to +0.13), too small to matter"
    assert found.word == NO


def test_parts_are_gathered_by_their_word_and_what_follows_comes_last() -> None:
    places = {"ISIC-18": effect(0.1, 0.0, -0.1), "SVHN": effect(2.0, 2.1, 2.2)}
    (yes, svhn), (no, isic18), last = gathered(
        [Part("So", "recommended"), *parts_of(places)]
    )
    assert (yes, no, last) == (YES, NO, ("So", "recommended"))
    assert svhn.startswith("SVHN +2.10") and isic18.startswith("ISIC-18 +0.00")
