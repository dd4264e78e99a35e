"""A difference is written with its sign, a real minus and its interval."""

from __future__ import annotations

from fedsemi.evidence.numbers import interval, points, short, signed
from fedsemi.evidence.stats import paired

# Differences 1, 2 and 3: 2 ± 4.3027 / sqrt 3.
THREE, ONE = paired([1.0, 2.0, 3.0], [0.0] * 3), paired([0.0], [0.25])


def test_an_interval_has_both_ends_with_their_signs() -> None:
    assert interval(THREE) == "−0.48 to +4.48"
    assert short(THREE) == "+2.00 (−0.48 to +4.48)"


def test_one_seed_has_no_interval() -> None:
    assert short(ONE) == "−0.25"
    assert points(ONE) == "−0.25 points"
    assert points(ONE, "1 of 5 seeds so far") == "−0.25 points (1 of 5 seeds so far)"


def test_in_a_sentence_the_interval_is_named_and_the_seeds_follow() -> None:
    told = "+2.00 points (95 % interval −0.48 to +4.48, 3 seeds)"
    assert points(THREE, "3 seeds") == told


def test_what_is_nothing_has_the_sign_of_what_was_rounded() -> None:
    assert (signed(0.0), signed(-0.001)) == ("+0.00", "−0.00")
