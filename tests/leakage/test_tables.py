"""Tables of what a server learns: means over seeds with intervals."""

from __future__ import annotations

import csv
import io

import pytest

from fedsemi.leakage.tables import as_csv, as_markdown, head_of, lines_of, rows_of

from .made import cell, record, two_seeds


def test_a_line_joins_the_seeds_of_a_method_and_thing() -> None:
    forms = ["plain", "presence", "sum of 3", "sum of 10", "noise"]
    assert head_of(two_seeds()) == ["method", "sent", "guess", *forms]
    model, diversities = rows_of(two_seeds(), "classes")
    # sd 0.01 √2, error 0.01, t(0.975, 1) = 12.7062
    assert model[:4] == ["semianagg, unlabeled", "model update", "0.50", "0.90 ± 0.13"]
    assert diversities[1] == "diversities r" and diversities[5] == "–"


def test_rates_at_one_percent_stand_in_brackets() -> None:
    (row,) = rows_of(two_seeds(), "membership")
    assert row[3] == "0.55 ± 0.01 (2.0 ± 0.0 %)"


def test_a_rate_that_one_seed_lacks_is_not_given() -> None:
    some = [
        cell("membership", "plain", 0.6, caught=0.1),
        cell("membership", "plain", 0.6),
    ]
    (line,) = lines_of([record(1, some[0]), record(2, some[1])], "membership")
    assert line.forms["plain"].caught is None


def test_better_than_a_guess_is_what_is_better_in_the_whole_interval() -> None:
    (model, _) = lines_of(two_seeds(), "classes")
    assert {name: form.better for name, form in model.forms.items()} == {
        "plain": True,
        "sum of 3": True,
        "sum of 10": False,
        "noise": False,
    }


def test_fewer_images_in_a_wrong_class_are_better() -> None:
    good, bad = cell("shares", "plain", 0.2), cell("shares", "plain", 0.7)
    for each, better in ((good, True), (bad, False)):
        (line,) = lines_of([record(1, each)], "shares")
        assert line.forms["plain"].better is better


def test_each_seed_is_compared_with_its_own_guesser() -> None:
    """Sites of one seed may be harder to guess than those of another."""
    easy = cell("shares", "plain", 0.30, baseline=0.31)
    hard = cell("shares", "plain", 0.60, baseline=0.6101)
    (line,) = lines_of([record(1, easy), record(2, hard)], "shares")
    assert line.forms["plain"].better


def test_a_method_with_fewer_seeds_than_others_says_so() -> None:
    late = record(1, cell("classes", "plain", 0.6), method="cbafed")
    *_, row = rows_of([*two_seeds(), late], "classes")
    assert row[0] == "cbafed, unlabeled (one seed)" and row[3] == "0.60"


def test_every_question_that_was_asked_has_a_table_with_its_meaning() -> None:
    text = as_markdown(two_seeds())
    assert text.count("### ") == 3 and "a guess has 0.50" in text
    assert as_markdown([record(1, cell("shares", "plain", 0.2))]).count("### ") == 1


def test_the_csv_has_all_numbers_unrounded_and_who_was_the_strongest() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(two_seeds()))))
    assert len(rows) == 8
    first = rows[0]
    assert first["form"] == "plain" and float(first["mean"]) == pytest.approx(0.9)
    assert float(first["low"]) == pytest.approx(0.9 - 0.127062, abs=1e-5)
    assert first["strongest attacker"] == "linear, head bias"
