"""What benchmarks measured stands in the documentation as it was measured."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.common import Section
from benchmarks.sections import (
    RECORDS,
    WHOLE,
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
    pytest.importorskip("flwr")
    from benchmarks.items import ITEMS

    by_tests = "torture"  # `make torture` keeps it
    assert {path.stem for path in RECORDS.iterdir()} == {*ITEMS, by_tests}
    assert {*WHOLE} <= {*ITEMS}


def test_a_row_that_is_too_short_is_no_section():
    with pytest.raises(ValueError, match=r"Speed: .* does not fit"):
        replace(SECTION, rows=[["10", "big"]])


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
