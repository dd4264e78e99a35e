"""The oracle counts what was labeled, and how much of it is right."""

from __future__ import annotations

import pytest
import torch

from fedsemi.simulation.oracle import Oracle

ORACLE = Oracle({4: torch.tensor([0, 1, 2, 1])})


@pytest.mark.parametrize(
    ("labels", "right"),
    [
        ([0, 1, 2, 1], 1.0),
        ([1, 1, 2, 1], 0.75),
        ([-1, -1, 0, 1], 0.5),  # of the two that were given
        ([-1, -1, -1, -1], None),
    ],
)
def test_only_labels_that_were_given_are_judged(
    labels: list[int], right: float | None
) -> None:
    assert ORACLE.accuracy(4, torch.tensor(labels)) == right
