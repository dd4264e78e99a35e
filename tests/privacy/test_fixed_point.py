"""Numbers as integers: exact sums, and a loud refusal where one could run over."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.privacy.fixed_point import check_room, from_fixed, to_fixed, zeros

NUMBERS = st.lists(st.floats(-20, 20), min_size=1, max_size=6)


def test_numbers_worked_by_hand() -> None:
    # 2 ** -25 is half a unit and goes to the even neighbor, which is zero.
    found = to_fixed(np.array([0.5, -(2.0**-24), 2.0**-25, 0.0]), "model")
    assert found.tolist() == [2**23, 2**32 - 1, 0, 0]
    assert from_fixed(found, "model").tolist() == [0.5, -(2.0**-24), 0, 0]


@given(NUMBERS, st.randoms())
def test_a_sum_is_the_same_in_any_order_and_errs_by_its_roundings(
    values: list[float], random
) -> None:
    parts = [to_fixed(np.array([value]), "model") for value in values]
    first, second = zeros("model", 1), zeros("model", 1)
    for part in parts:
        first += part
    random.shuffle(parts)
    for part in parts:
        second += part
    assert first.tobytes() == second.tobytes()
    error = abs(float(from_fixed(first, "model")[0]) - sum(values))
    assert error <= len(values) * 2.0**-25 + 1e-12


@pytest.mark.parametrize("value", [128.0, -128.1, np.nan, np.inf, -np.inf])
def test_a_number_that_has_no_place_is_refused(value: float) -> None:
    with pytest.raises(ProtocolError, match="FS6008"):
        to_fixed(np.array([1.0, value]), "model")


def test_a_sum_that_could_run_over_is_refused() -> None:
    check_room(127.99, 100, "model")
    check_room(2.0**24 * 1000, 1000, "claims")
    with pytest.raises(ConfigError, match=r"FS6003.*privacy\.clip"):
        check_room(128.0, 10, "model")
    with pytest.raises(ConfigError, match="FS6003"):
        check_room(128 - 1e-6, 100, "model")
