"""An effect in words, in a row and in a plot, worked by hand."""

from __future__ import annotations

import pytest

from fedsemi.evidence.effects import HEAD, Effect, said_of, table_of
from fedsemi.evidence.stats import paired

# Differences 1, 2, 3: 2 ± 4.3027 / sqrt 3 = 2 ± 2.484, a deviation of one.
TEST = paired([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
DRIVEN = [4.0, -1.0, -2.0, -1.0, -2.0]
EARLY = Effect("a − b", {"accuracy": TEST, "running_mean.accuracy": None}, planned=5)
MISSING = Effect("c − b", {"accuracy": None, "running_mean.accuracy": None}, planned=5)


def test_a_row_has_seeds_interval_finding_and_the_seeds_it_takes() -> None:
    numbers = ("+2.00 (−0.48 to +4.48)", "–", "undecided so far", "18")
    assert EARLY.row == ("a − b", "3 of 5 seeds so far", *numbers)


def test_the_planned_seeds_make_a_finding_final() -> None:
    done = Effect("a − b", EARLY.tests, planned=3)
    assert (done.progress, done.finding) == ("3 seeds", "undecided")
    assert done.sentence.endswith("to +4.48, 3 seeds), undecided.")


def test_the_outlook_ends_when_the_interval_is_narrow_enough() -> None:
    narrow = paired([1.0, 1.01, 1.02], [0.0, 0.0, 0.0])
    assert Effect("a − b", {"accuracy": narrow}, planned=3).outlook == ""
    assert "takes about 18, 15 more" in EARLY.outlook


def test_the_outlook_of_what_is_undecided_says_what_it_takes_to_show_nothing() -> None:
    # (2.018 + 1.282) / sqrt n is half a point with 44 seeds at a deviation of one.
    assert "if nothing is there, takes about 44 (power 80 %)" in EARLY.outlook
    sure = paired([3.0, 5.0, 4.0, 4.5], [0.0] * 4)
    assert "if nothing is there" not in Effect("a", {"accuracy": sure}, 3).outlook


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ([1.0, 1.1, 1.2], "decided, above zero"),
        ([1.0, -1.1, 0.2], "decided, above zero, not by the running mean"),
        ([-1.0, -1.1, -1.2], "decided, above zero, the opposite by the running mean"),
    ],
)
def test_a_lead_that_the_other_score_does_not_share_says_so(
    second: list[float], said: str
) -> None:
    tests = {
        "accuracy": paired([2.0, 2.1, 2.2], [0.0] * 3),
        "running_mean.accuracy": paired(second, [0.0] * 3),
    }
    found = Effect("a − b", tests, planned=3)
    assert found.finding == said and found.row[4] == said
    # A sentence has both scores in full.
    assert "3 seeds), decided, above zero; by the running mean" in found.sentence


def test_other_metrics_are_told_and_only_an_opposite_one_speaks_against_a_lead() -> (
    None
):
    lead = {"accuracy": paired([2.0, 2.1, 2.2], [0.0] * 3)}
    metrics = {
        "accuracy": paired([-3.0, -3.0], [0, 0]),
        "AUC": paired([0.5, -0.5], [0, 0]),
    }
    found = Effect("a − b", lead, planned=3, metrics=metrics)
    assert found.finding == "decided, above zero, the opposite by accuracy"
    told = "accuracy −3.00 (−3.00 to −3.00), AUC +0.00 (−6.35 to +6.35)"
    plain = Effect("c − d", lead, planned=3)
    head, rows = table_of([found, plain])
    assert head[-1] == "by other metrics"
    assert [row[-1] for row in rows] == [told, "–"]
    assert table_of([plain])[0] == HEAD  # no column for nothing


def test_a_tie_is_a_tie_and_says_which_other_metric_decides() -> None:
    metrics = {
        "accuracy": paired([-3.0, -3.0], [0, 0]),
        "AUC": paired([0.5, -0.5], [0, 0]),
    }
    tie = Effect("a − b", {"accuracy": TEST}, planned=3, metrics=metrics)
    assert tie.finding == "undecided"
    assert tie.beside == "by accuracy −3.00 (−3.00 to −3.00)"


def test_a_tie_is_a_tie_whatever_the_other_score_says() -> None:
    tests = {"accuracy": TEST, "running_mean.accuracy": paired([-1, -1.1], [0, 0])}
    assert Effect("a − b", tests, planned=3).finding == "undecided"


def test_what_was_not_run_is_said_and_has_no_row_and_no_line() -> None:
    assert MISSING.sentence == "c − b: not run yet (0 of 5 seeds so far)."
    assert table_of([EARLY, MISSING])[1] == (EARLY.row,)
    assert said_of([EARLY, MISSING]) == (
        "1 comparison by each score, 1 more not run yet."
    )


def test_a_seed_that_alone_decides_is_named_in_words_and_in_the_row() -> None:
    # 4, -1, -2, -1, -2: -0.4 ± 2.7764 * 2.51 / sqrt 5. Without the first seed -1.5, and
    # 3.1824 * 0.5774 / 2 = 0.919 on both sides.
    found = Effect("a − b", {"accuracy": paired(DRIVEN, [0.0] * 5)}, planned=5)
    assert found.hangs_on == (1,)
    assert found.sentence == (
        "a − b: −0.40 points (95 % interval −3.52 to +2.72, 5 seeds), undecided; "
        "without seed 1 it would be −1.50 (−2.42 to −0.58)."
    )
    assert found.finding == "undecided"  # by its rules, which know all seeds
    assert found.row[4] == "undecided, not without seed 1"
    note = " Not without a seed: the others alone would decide otherwise."
    assert said_of([found]).endswith(note) and note not in said_of([EARLY])


def test_what_hangs_on_a_seed_is_told_before_the_other_score() -> None:
    both = {
        "accuracy": paired(DRIVEN, [0.0] * 5, seeds=[2, 3, 5, 7, 11]),
        "running_mean.accuracy": paired([0.0] * 5, [0.0] * 5),
    }
    text = Effect("a − b", both, planned=5).sentence
    assert "without seed 2 it would be −1.50 (−2.42 to −0.58); by the running" in text


def test_fewer_than_five_seeds_are_not_told_to_hang_on_one() -> None:
    # Without the first: -1, -1.1, -0.9, which is below zero.
    few = paired([4.0, -1.0, -1.1, -0.9], [0.0] * 4)
    assert few.without(1).side == -1
    found = Effect("a − b", {"accuracy": few}, planned=4)
    assert found.hangs_on == () and "without" not in found.sentence
