"""Ratios in the table of other frameworks."""

from __future__ import annotations

from benchmarks.peers.__main__ import Measured, _ratio


def test_a_ratio_is_that_of_the_medians():
    found = {"a": Measured([3.0, 9.0, 3.3]), "b": Measured([2.0, 2.0, 7.0])}
    assert _ratio(found, "a", "b") == "1.65"
    assert _ratio(found, "a", "c") == "–"
