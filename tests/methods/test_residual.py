"""CBAFed's residual connection: when it mixes, and what comes out, by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fedsemi.methods.residual import is_due, over_epochs


def due(every: int, steps: int) -> list[int]:
    return [step for step in range(steps) if is_due(step, every, steps)]


def test_the_released_length_mixes_every_fifth_and_at_the_last() -> None:
    assert due(5, 11) == [5, 10]


def test_a_length_that_is_no_multiple_mixes_once_more_at_its_end() -> None:
    assert due(5, 13) == [5, 10, 12]
    assert due(5, 7) == [5, 6]


@pytest.mark.parametrize("steps", [0, 1, 4, 5])
def test_steps_too_few_for_a_first_mix_have_none(steps: int) -> None:
    assert due(5, steps) == []


@given(st.integers(1, 20), st.integers(0, 100))
def test_the_first_step_never_mixes_and_a_long_run_always_ends_on_a_mix(
    every: int, steps: int
) -> None:
    found = due(every, steps)
    assert 0 not in found
    if steps > every + 1:
        assert found[-1] == steps - 1


def test_each_mix_returns_to_the_last_one_by_the_share_that_is_kept() -> None:
    student = torch.nn.Linear(1, 1, bias=False)

    def epochs() -> Iterator[float]:
        for epoch in range(5):
            with torch.no_grad():
                student.weight.fill_(float(epoch))  # what was learned in it
            yield float(epoch)

    seen = []
    mixed = over_epochs(epochs(), student, every=2, keep=0.75, number=5)
    for loss in mixed:
        seen.append((loss, student.weight.item()))
    # Epoch 0 is kept as it is; 2: 3/4 of 0 and 1/4 of 2; 4: 3/4 of 0.5 and 1/4 of 4.
    assert seen == [(0, 0), (1, 1), (2, 0.5), (3, 3), (4, 1.375)]
