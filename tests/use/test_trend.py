"""An arrow and a sparkline that do not make more of noise than it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fedsemi.use.trend import arrow, sparkline


def test_an_arrow_needs_four_tests() -> None:
    assert [arrow([0.1 * n for n in range(k)]) for k in range(6)] == [
        "", "", "", "", "↑", "↑"
    ]  # fmt: skip


def test_ups_and_downs_are_no_trend() -> None:
    # Means 0.62 and 0.60; each side's variance is 0.007, so the error of their
    # difference is sqrt(0.014 / 5) = 0.053.
    tests = [0.5, 0.7, 0.6, 0.5, 0.7, 0.7, 0.5, 0.6, 0.7, 0.6]
    assert arrow(tests) == "→"


def test_a_fall_beyond_noise_is_told_and_older_tests_do_not_count() -> None:
    flat, fallen = [0.8, 0.81, 0.79, 0.8, 0.8], [0.7, 0.71, 0.69, 0.7, 0.7]
    assert arrow([0.1, *flat, *fallen]) == "↓"
    assert arrow([0.1, *fallen, *flat]) == "↑"


def test_small_ups_and_downs_are_drawn_small() -> None:
    assert sparkline([0.800, 0.805, 0.800, 0.803]) == "▁▁▁▁"
    assert sparkline([0.2, 0.9]) == "▁█"


def test_each_character_is_the_mean_of_its_part_of_the_run() -> None:
    assert sparkline([0.0, 0.2, 0.8, 1.0], width=2) == "▁█"
    assert sparkline([]) == ""


@given(st.lists(st.floats(0, 1), max_size=200), st.integers(1, 30))
def test_a_sparkline_is_never_longer_than_its_place(
    tests: list[float], width: int
) -> None:
    assert len(sparkline(tests, width)) == min(width, len(tests))
