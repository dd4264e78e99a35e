"""Groups compared: one with a liar is cut, honest ones that differ are not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsemi.server.group_guard import Compared, compare, mean_step
from fedsemi.server.guard import Guard
from fedsemi.state import GroupSum, GuardState

ON = Guard(enabled=True, sees_steps=False)


def group(first: int, step: float, share: float = 0.25, lost: bool = False) -> GroupSum:
    """Three clients whose mean step has that length."""
    clients = (first, first + 1, first + 2)
    numbers = np.array([0.0, step * share, 0.0])
    if lost:
        return GroupSum(clients, (), numbers[:0], 0.0)
    return GroupSum(clients, clients, numbers, share)


def compared(*sums: GroupSum, state: GuardState | None = None, guard=ON) -> Compared:
    return compare(guard, sums, state or GuardState(), round=4)


def test_the_longer_a_group_goes_beyond_the_limit_the_less_is_left_of_it() -> None:
    # The median of (1, 1.2, 4.8) is 1.2, so that 2.4 is the limit: half of 4.8.
    found = compared(group(0, 1.0), group(3, 1.2), group(6, 4.8))
    assert found.parts == pytest.approx([1, 1, 0.25])
    assert [(n.code, n.client) for n in found.notices] == [("FS2143", None)]
    assert str(found.notices[0]) == (
        "FS2143 round 5: group 3 (clients 6, 7, 8) went 4.8, and 2.4 is the limit; "
        "25.0% of its step is left"
    )


def test_an_honest_group_that_differs_is_left_alone() -> None:
    """One with the labeled site has most of the mean and goes twice as far."""
    found = compared(group(0, 1.0, 0.7), group(3, 0.5, 0.2), group(6, 0.55, 0.1))
    assert found.parts == [1.0, 1.0, 1.0]
    assert found.notices == ()


@given(st.floats(0, 1e4), st.floats(0.001, 1.0))
def test_whatever_one_group_sends_it_goes_no_further_than_the_limit(
    step: float, share: float
) -> None:
    sums = group(0, 1.0), group(3, 1.2), group(6, step, share)
    found = compared(*sums)
    assert found.parts[:2] == [1.0, 1.0]
    assert found.parts[2] * np.linalg.norm(sums[2].step) <= 2.4 * share + 1e-9


@pytest.mark.parametrize("share", [-0.3, 0.0, 1.5, 1e4])
def test_a_share_that_cannot_be_does_not_make_a_step_look_short(share: float) -> None:
    long = GroupSum((6, 7, 8), (6, 7, 8), np.array([50.0, 0.0]), share)
    found = compared(group(0, 1.0), group(3, 1.2), long)
    assert found.parts == [1.0, 1.0, 0.0]
    assert "shares that cannot be" in found.notices[0].reason


def test_groups_without_a_share_do_not_hold_the_others_back() -> None:
    """Before anybody has pseudo-labels only the labeled site's group goes anywhere."""
    idle = GroupSum((3, 4, 5), (3, 4, 5), np.zeros(3), 0.0)
    found = compared(group(0, 5.0, 1.0), idle, idle)
    assert found.parts == [1.0, 1.0, 1.0]
    assert mean_step(idle) is None


def test_two_groups_have_no_outlier_but_earlier_rounds() -> None:
    pair = group(0, 1.0), group(3, 1e3)
    assert compared(*pair).parts == [1.0, 1.0]
    known = GuardState(steps=(1.0, 1.1, 0.9))
    # Ten of the earlier rounds' median: the limit is 10.
    assert compared(*pair, state=known).parts == pytest.approx([1.0, 1e-4])


def test_most_groups_cannot_jump_away_from_earlier_rounds() -> None:
    known = GuardState(steps=(1.0,))
    found = compared(group(0, 1.0), group(3, 1e3), group(6, 1e3), state=known)
    assert found.parts == pytest.approx([1.0, 1e-4, 1e-4])


def test_what_was_let_go_is_remembered() -> None:
    found = compared(group(0, 1.0), group(3, 1.2), group(6, 4.8))
    assert found.state.steps == pytest.approx((1.2,))  # the last one goes 4.8 / 4


def test_off_it_cuts_nothing_and_remembers_nothing() -> None:
    found = compared(group(0, 1.0), group(3, 1.2), group(6, 1e9), guard=Guard())
    assert found.parts == [1.0, 1.0, 1.0]
    assert found.state == GuardState()
    assert [each.step for each in found.records] == pytest.approx([1.0, 1.2, 1e9])


def test_a_group_that_was_not_summed_is_noted_and_compared_with_nobody() -> None:
    found = compared(group(0, 1.0), group(3, 1.2), group(6, 0, lost=True))
    assert found.parts == [1.0, 1.0, 0.0]
    assert [each.code for each in found.notices] == ["FS6021"]
    assert "group 3 (clients 6, 7, 8)" in found.notices[0].reason
    assert found.records[2].step is None


def test_a_step_without_end_leaves_nothing() -> None:
    assert math.isinf(mean_step(group(0, 1.0, share=2.0)) or 0)
