"""Which labeled images stay out of training."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fedsemi.data.held_out import hold_out

ROWS = np.arange(100, 150)


@given(st.floats(0, 0.9), st.integers(0, 5))
def test_every_row_is_either_learned_from_or_held_out(fraction: float, k: int) -> None:
    learned, kept = hold_out(ROWS, None, fraction, 1, k)
    assert sorted([*learned, *kept]) == ROWS.tolist()
    assert len(kept) == round(fraction * 50)
    assert len(learned) > 0


def test_zero_changes_nothing() -> None:
    learned, kept = hold_out(ROWS, None, 0.0, 1, 0)
    assert learned is ROWS
    assert len(kept) == 0


def test_a_group_is_never_torn_apart() -> None:
    groups = np.arange(200) // 7
    learned, kept = hold_out(ROWS, groups, 0.3, 1, 0)
    assert not set(groups[learned]) & set(groups[kept])
    assert len(kept) >= 15


def test_the_only_group_of_a_client_is_learned_from() -> None:
    learned, kept = hold_out(ROWS, np.zeros(200, dtype=np.int64), 0.3, 1, 0)
    assert (len(learned), len(kept)) == (50, 0)


def test_the_draw_depends_on_seed_and_client_alone() -> None:
    first = hold_out(ROWS, None, 0.2, 1, 0)[1]
    assert first.tolist() == hold_out(ROWS, None, 0.2, 1, 0)[1].tolist()
    assert first.tolist() != hold_out(ROWS, None, 0.2, 1, 1)[1].tolist()
