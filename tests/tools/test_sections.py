"""What benchmarks measured stands in the documentation as it was measured."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.__main__ import BY_NAME, ITEMS
from benchmarks.common import ROOT, Section
from benchmarks.numbers import shown_in
from benchmarks.sections import (
    AIMS,
    PAGES,
    RECORDS,
    RESULTS,
    Measured,
    aims,
    keep,
    kept,
    results,
)

SECTION = Section(
    "Speed",
    "Seconds.",
    ["rounds", "other", "ratio", "aim", ""],
    [
        ["10", "big", "1.05", "at most 1.10", "met"],
        ["10", "small", "1.20", "at most 1.10", "**missed**"],
        ["bare loop", "small", "2.00", "–", ""],
        ["idle", "small", "0.10", "at most 1.00", "met"],
    ],
)


def test_every_benchmark_has_a_record_and_no_record_is_left_over():
    assert {path.stem for path in RECORDS.iterdir()} == {*ITEMS, *BY_NAME}


@pytest.mark.parametrize("name", sorted({*PAGES} - {AIMS}))
def test_a_page_shows_the_table_that_was_measured(name):
    assert shown_in(ROOT / "docs" / PAGES[name], name) == kept(name).section.table()


def test_the_aims_and_the_results_are_those_of_the_records():
    sections = [kept(name) for name in ITEMS]
    assert shown_in(ROOT / "docs" / PAGES[AIMS], AIMS) == aims(sections)
    assert RESULTS.read_text("utf-8") == results(sections)


def test_a_record_comes_back_as_it_was_kept(tmp_path):
    measured = Measured(SECTION, "on a day")
    keep("speed", measured, tmp_path)
    assert kept("speed", tmp_path) == measured


def test_rows_with_an_aim_are_listed_and_counted():
    both = [Measured(SECTION, "today"), Measured(replace(SECTION, rows=[]), "today")]
    assert aims(both).splitlines()[2:] == [
        "| Speed | 10 rounds, other big | ratio | 1.05 | at most 1.10 | met |",
        "|  | 10 rounds, other small | ratio | 1.20 | at most 1.10 | **missed** |",
        "|  | idle | ratio | 0.10 | at most 1.00 | met |",
    ]
    text = results(both)
    assert "2 of 3 aims met." in text
    assert "| idle | small | 0.10 | at most 1.00 | met |\n\nMeasured today.\n" in text
