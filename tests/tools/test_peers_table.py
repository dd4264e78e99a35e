"""The table of other frameworks in the documentation is the one that was measured."""

from __future__ import annotations

from pathlib import Path

from benchmarks.peers.__main__ import Measured, _ratio

ROOT = Path(__file__).parents[2]


def test_the_page_shows_the_table_that_was_measured():
    measured = (ROOT / "benchmarks" / "peers.md").read_text("utf-8")
    table = [line for line in measured.splitlines() if line.startswith("|")]
    page = (ROOT / "docs" / "performance.md").read_text("utf-8")
    shown = page.split("<!-- peers -->\n")[1].split("\n<!-- end of peers -->")[0]
    assert shown.splitlines() == table


def test_a_ratio_is_that_of_the_medians():
    found = {"a": Measured([3.0, 9.0, 3.3]), "b": Measured([2.0, 2.0, 7.0])}
    assert _ratio(found, "a", "b") == "1.65"
    assert _ratio(found, "a", "c") == "–"
