"""Statistics by hand."""

from __future__ import annotations

import pytest

from fedsemi.evidence.stats import gap_closed, paired, seeds_for, spread


def test_the_gap_closed_by_hand() -> None:
    # The paper's SVHN column: 91.69 between 75.86 and 94.77.
    assert gap_closed(91.69, 75.86, 94.77) == pytest.approx(15.83 / 18.91)
    assert gap_closed(70.0, 75.0, 95.0) == pytest.approx(-0.25)
    assert gap_closed(70.0, 75.0, 75.0) is None


def test_the_spread_is_the_sample_deviation() -> None:
    found = spread([1.0, 2.0, 6.0])
    assert (found.n, found.mean) == (3, 3.0)
    assert found.sd == pytest.approx(7**0.5)
    assert spread([4.0]).sd is None


def test_a_paired_test_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, deviation 1, error 1 / sqrt 3, t = 2 sqrt 3.
    found = paired([11, 22, 33], [10, 20, 30])
    assert found.mean == 2 and found.t == pytest.approx(2 * 3**0.5)
    # With two degrees of freedom P(|T| > t) = 1 - t / sqrt(t^2 + 2) = 1 - sqrt(6 / 7).
    assert found.p_t == pytest.approx(1 - (6 / 7) ** 0.5)
    # 4.302653 is the 97.5 % point of t with two degrees of freedom.
    assert found.low == pytest.approx(2 - 4.302653 / 3**0.5, abs=1e-5)
    assert found.verdict == "undecided"
    # All three of one sign: 2 of the 8 sign patterns are as extreme.
    assert found.p_wilcoxon == pytest.approx(0.25)
    assert found.p_sign == pytest.approx(0.25)
    assert (found.wins, found.losses) == (3, 0)


def test_a_clear_difference_is_ahead_or_behind() -> None:
    a, b = [10.0, 11.0, 12.0, 13.0], [1.0, 2.1, 2.9, 4.0]
    assert paired(a, b).verdict == "ahead" and paired(b, a).verdict == "behind"


def test_an_interval_is_above_zero_below_it_or_around_it() -> None:
    sides = [paired(a, [0.0] * len(a)).side for a in ([1, 2], [9, 10], [-9, -10], [1])]
    # Means 1.5, 9.5 and −9.5, each ± 6.353; one seed has no interval.
    assert sides == [0, 1, -1, 0]


def test_one_seed_shows_a_difference_and_no_test() -> None:
    found = paired([3.0], [1.0])
    assert (found.mean, found.p_t, found.low) == (2.0, None, None)
    assert found.verdict == "one seed"


def test_equal_methods_have_no_t() -> None:
    found = paired([1.0, 2.0], [1.0, 2.0])
    assert (found.mean, found.t, found.p_sign) == (0.0, None, 1.0)
    assert found.verdict == "undecided"


def test_a_finding_is_what_the_interval_says_of_half_a_point() -> None:
    def finding(*differences: float) -> str:
        return paired(differences, [0.0] * len(differences)).finding(0.5)

    assert finding(1.0, 1.1, 0.9) == "decided, above zero"
    assert finding(-1.0, -1.1, -0.9) == "decided, below zero"
    # 0.01 ± 0.25 lies within half a point and includes zero.
    assert finding(0.01, 0.11, -0.09) == "no effect worth having"
    assert finding(1.0, -1.0, 0.5) == "undecided"
    assert finding(0.2, 0.21, 0.19) == "decided, above zero but too small to matter"
    assert finding(3.0) == "one seed only"


def test_the_seeds_that_an_interval_takes_by_hand() -> None:
    # 2.0227 * 1.6 / sqrt 40 = 0.512 is too wide; 2.0195 * 1.6 / sqrt 42 = 0.499 is not.
    assert seeds_for(1.6, 0.5) == 42
    assert seeds_for(0.0, 0.5) == 2, "two seeds are the fewest that have an interval"
    assert seeds_for(1000.0, 0.5) is None


def test_the_deviation_of_the_differences_is_kept() -> None:
    assert paired([11, 22, 33], [10, 20, 30]).sd == pytest.approx(1)
    assert paired([1.0, 2.0], [1.0, 2.0]).sd == 0 and paired([1.0], [0.0]).sd is None


def test_the_differences_are_kept_by_the_numbers_of_their_seeds() -> None:
    assert paired([11, 22], [10, 20]).each == {1: 1.0, 2: 2.0}
    found = paired([11, 22, 36], [10, 20, 30], seeds=[1, 2, 5])
    assert found.each == {1: 1.0, 2: 2.0, 5: 6.0}
    assert (found.median, found.mean) == (2.0, 3.0)


def test_a_seed_is_left_out_with_what_the_interval_was_widened_by() -> None:
    # 1, 2, 3 are left, as in the tests above and below, with one chance and with six.
    found = paired([9.0, 1.0, 2.0, 3.0], [0.0] * 4)
    assert found.without(1).low == pytest.approx(2 - 2.4841, abs=1e-4)
    wide = paired([9.0, 1.0, 2.0, 3.0], [0.0] * 4, chances=6)
    assert wide.without(1).low == pytest.approx(2 - 10.8859 / 3**0.5, abs=1e-3)


def test_a_seed_turns_what_is_open_into_what_is_decided() -> None:
    def turned(*differences: float) -> tuple[int, ...]:
        return paired(differences, [0.0] * len(differences)).turned_without(0.5)

    # Without the first seed -1.5 ± 0.919; without another one zero stays inside.
    assert turned(4.0, -1.0, -2.0, -1.0, -2.0) == (1,)
    # That a decided difference would be open is mere loss of power: 1, 1, 1.8 are
    # 1.27 ± 1.15, and 1, 1.8 are 1.4 ± 5.1.
    assert turned(1.0, 1.0, 1.8) == ()
    # 0.1 ± 0.19, without the last seed 0.15 ± 0.08: nothing that matters either way.
    small = (0.1, 0.2, 0.1, 0.2, -0.1)
    assert paired(small, [0.0] * 5).without(5).side == 1
    assert turned(*small) == ()


def test_the_seed_that_turns_most_is_the_first() -> None:
    # Two of seven seeds are below zero. Without the fifth the interval begins at 0.03,
    # without the sixth, which is lower, at 0.86.
    found = paired([3.0, 3.1, 3.0, 3.1, -0.6, -2.0, 2.9], [0.0] * 7)
    assert found.side == 0
    assert found.without(5).low == pytest.approx(0.03, abs=0.01)
    assert found.without(6).low == pytest.approx(0.86, abs=0.01)
    assert found.turned_without(0.5) == (6, 5)


def test_the_largest_of_several_differences_has_a_wider_interval() -> None:
    # 1, 2, 3 with six chances: t of 1 - 0.025 / 6 with two degrees is 10.8859 / sqrt 3.
    one, six = (paired([1.0, 2.0, 3.0], [0.0] * 3, chances) for chances in (1, 6))
    assert one.low == pytest.approx(2 - 2.4841, abs=1e-4)
    assert six.high == pytest.approx(2 + 10.8859 / 3**0.5, abs=1e-3)
