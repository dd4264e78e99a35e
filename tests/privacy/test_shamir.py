"""Any so many shares give the secret; fewer say nothing at all."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsemi.privacy.parameters import PRIME
from fedsemi.privacy.shamir import joined, split, weights_of


def _given(*coefficients: int):
    """Draw these coefficients, the highest power first."""
    left = list(coefficients)
    return lambda below: left.pop(0)


def test_a_line_worked_by_hand() -> None:
    # f(x) = 3x + 5 mod 7: f(1) = 8 = 1, f(2) = 11 = 4, f(4) = 17 = 3.
    assert split(5, (1, 2, 4), 2, 7, _given(3)) == {1: 1, 2: 4, 4: 3}
    # At 0 through (1, 1) and (2, 4): weights 2/(2-1) = 2 and 1/(1-2) = -1 = 6;
    # 1 * 2 + 4 * 6 = 26 = 5.
    assert weights_of((1, 2), 7) == {1: 2, 2: 6}
    assert joined({1: 1, 2: 4}, weights_of((1, 2), 7), 7) == 5


def test_the_published_example_of_a_parabola() -> None:
    # f(x) = 1234 + 166 x + 94 x^2 mod 1613, as in the usual textbook example.
    shares = split(1234, range(1, 7), 3, 1613, _given(94, 166))
    assert shares == {1: 1494, 2: 329, 3: 965, 4: 176, 5: 1188, 6: 775}
    for three in combinations(shares, 3):
        assert joined(shares, weights_of(three, 1613), 1613) == 1234


@given(st.integers(0, PRIME - 1), st.integers(1, 8), st.integers(0, 4))
def test_enough_shares_give_the_secret(secret: int, needed: int, more: int) -> None:
    places = range(5, 5 + needed + more)
    shares = split(secret, places, needed)
    assert joined(shares, weights_of(tuple(places)[more:])) == secret


def test_one_share_too_few_fits_every_secret_equally_often() -> None:
    # All lines over the field of five elements: each value at 1 goes with each secret.
    for secret in range(5):
        found = sorted(split(secret, (1, 2), 2, 5, _given(a))[1] for a in range(5))
        assert found == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("places", [(0, 1), (1, 1), (-1, 2), (1, PRIME)])
def test_no_share_lies_where_the_secret_does(places: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="places"):
        split(1, places, 2)


def test_a_secret_above_the_prime_or_more_needed_than_there_are_is_refused() -> None:
    with pytest.raises(ValueError, match="impossible"):
        split(PRIME, (1, 2), 2)
    with pytest.raises(ValueError, match="impossible"):
        split(1, (1, 2), 3)


def test_the_prime_is_one_and_above_every_secret() -> None:
    assert PRIME > 2**256
    # Fermat with several bases; a composite that passes all of them is not known.
    assert all(pow(base, PRIME - 1, PRIME) == 1 for base in (2, 3, 5, 7, 11, 13, 17))
