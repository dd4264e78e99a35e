"""What parts of a picture look like as SVG."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsemi.text.svg import number, steps, text

finite = st.floats(-1e4, 1e4, allow_nan=False)


def test_words_cannot_end_the_picture() -> None:
    assert "<script>" not in text(0, 0, "<script>")
    assert "&lt;script&gt;" in text(0, 0, "<script>")


@given(finite)
def test_a_coordinate_is_within_a_tenth(value: float) -> None:
    assert float(number(value)) == pytest.approx(value, abs=0.0501)


@given(finite, st.floats(0.01, 1e4))
def test_an_axis_reaches_over_all_values_with_few_even_steps(
    low: float, span: float
) -> None:
    found = steps(low, low + span)
    assert found[0] <= low + 1e-5 and found[-1] >= low + span - 1e-5
    assert 2 <= len(found) <= 8
    widths = [b - a for a, b in pairwise(found)]
    assert widths == pytest.approx([widths[0]] * len(widths), rel=1e-3)
