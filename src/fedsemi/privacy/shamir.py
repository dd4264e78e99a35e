"""Shamir's secret sharing: any so many shares give the secret, fewer say nothing.

Shamir, How to Share a Secret, Communications of the ACM 1979.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache

from fedsemi.privacy.parameters import PRIME


def split(
    secret: int,
    places: Collection[int],
    needed: int,
    prime: int = PRIME,
    draw: Callable[[int], int] = secrets.randbelow,
) -> dict[int, int]:
    """Share a secret out: the values, at some places, of a polynomial that ends in it.

    Args:
        secret: Below the prime.
        places: One for each holder; never 0, where the secret itself lies.
        needed: How many shares give the secret: one more than the degree.
        prime: Of the field.
        draw: Returns a number below its argument, each as likely as any other.
    """
    _check(places, prime)
    if not 0 <= secret < prime or not 1 <= needed <= len(set(places)):
        raise ValueError("the secret or the number of shares is impossible")
    coefficients = [draw(prime) for _ in range(needed - 1)]
    return {x: _value(coefficients, secret, x, prime) for x in places}


@lru_cache(maxsize=16)  # the same holders open many secrets
def weights_of(places: tuple[int, ...], prime: int = PRIME) -> Mapping[int, int]:
    """Return by what each share counts in the secret (Lagrange, at 0)."""
    _check(places, prime)
    weights = {}
    for x in places:
        above = below = 1
        for other in places:
            if other != x:
                above = above * other % prime
                below = below * (other - x) % prime
        weights[x] = above * pow(below, -1, prime) % prime
    return weights


def joined(
    shares: Mapping[int, int], weights: Mapping[int, int], prime: int = PRIME
) -> int:
    """Return the secret behind shares, with the weights of these very places."""
    return sum(shares[x] * weight for x, weight in weights.items()) % prime


def _value(coefficients: list[int], secret: int, x: int, prime: int) -> int:
    value = 0
    for coefficient in coefficients:
        value = (value + coefficient) * x % prime
    return (value + secret) % prime


def _check(places: Collection[int], prime: int) -> None:
    if len(set(places)) < len(places) or not all(0 < x < prime for x in places):
        raise ValueError("places of shares must differ and be neither 0 nor negative")
