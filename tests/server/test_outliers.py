"""The guard's arithmetic, by hand."""

from __future__ import annotations

import pytest
import torch

from fedsemi.server.outliers import confirmed, lower_median, peers, winsorized


def test_a_claim_that_stands_out_is_cut_to_three_sigma() -> None:
    # Median 0.32 of (0.30, 0.31, 0.32, 0.33, 1), MAD 0.01 raised to 0.02:
    # limit 0.32 + 3 * 1.4826 * 0.02 = 0.408956.
    column = torch.tensor([[0.30], [0.31], [0.32], [0.33], [1.0]])
    assert winsorized(column)[-1].item() == pytest.approx(0.408956, abs=1e-6)
    assert torch.equal(winsorized(column)[:-1], column[:-1])


def test_a_class_of_two_clients_is_left_alone() -> None:
    column = torch.tensor([[0.0], [0.0], [0.1], [0.9]])
    assert torch.equal(winsorized(column), column)


@pytest.mark.parametrize(
    ("claiming", "clients", "fair"),
    [(0, 9, 3), (1, 9, 3), (2, 9, 3), (4, 9, 4), (9, 9, 9), (1, 2, 2), (1, 1, 1)],
)
def test_only_clients_with_pseudo_labels_count_as_peers(
    claiming: int, clients: int, fair: int
) -> None:
    diversity = torch.zeros(clients, 3)
    diversity[:claiming, 1] = 0.4
    assert peers(diversity) == fair


def test_three_clients_confirm_a_class_and_two_do_not() -> None:
    # Class 0 has three claims of 0.2, class 1 two, class 2 none: of the two classes
    # that anybody has, the first gives a third of its half to each of the three.
    diversity = torch.tensor([[0.2, 0.9, 0], [0.2, 0.9, 0], [0.2, 0, 0], [0, 0, 0]])
    found = confirmed(diversity).tolist()
    assert found == pytest.approx([1 / 6, 1 / 6, 1 / 6, 0])
    assert not confirmed(torch.zeros(4, 2)).any()


def test_half_of_the_values_cannot_lift_the_lower_median() -> None:
    assert lower_median([1.0, 1.2, 1e9, 1e9]) == 1.2
    assert lower_median([3.0, 1.0, 2.0]) == 2.0
    assert lower_median([]) is None
