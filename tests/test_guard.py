"""The guard: what one client may take, whatever it claims."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import strategies as st

from fedsemi.contributions import Rule, diversity_weights, guarded_weights
from fedsemi.guard import Guard, capped, clip_scales, peers, winsorized


def test_a_claim_that_stands_out_is_cut_to_three_sigma() -> None:
    # Median 0.32 of (0.30, 0.31, 0.32, 0.33, 1), MAD 0.01 raised to 0.02:
    # limit 0.32 + 3 * 1.4826 * 0.02 = 0.408956.
    column = torch.tensor([[0.30], [0.31], [0.32], [0.33], [1.0]])
    assert winsorized(column)[-1].item() == pytest.approx(0.408956, abs=1e-6)
    assert torch.equal(winsorized(column)[:-1], column[:-1])


def test_a_class_of_two_clients_is_left_alone() -> None:
    column = torch.tensor([[0.0], [0.0], [0.1], [0.9]])
    assert torch.equal(winsorized(column), column)


def test_capped_excess_goes_to_nobody() -> None:
    shares = torch.tensor([0.7, 0.1, 0.1, 0.1])
    assert capped(shares, 0.5).tolist() == pytest.approx([0.5, 0.1, 0.1, 0.1])


def test_two_clients_cannot_be_capped() -> None:
    lopsided = torch.tensor([[0.9], [0.1]])
    free = guarded_weights(lopsided, "paper", Guard(enabled=True))
    assert free.tolist() == pytest.approx([0.9, 0.1])


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


def test_a_client_that_alone_is_confident_moves_the_model() -> None:
    # 2 / max(3, 1) of the unlabeled part, not 2 / 9: silent clients are no peers.
    diversity = torch.zeros(9, 4)
    diversity[5, 2] = 0.3
    shares = guarded_weights(diversity, "paper", Guard(enabled=True))
    assert shares[5].item() == pytest.approx(2 / 3)
    assert shares.sum().item() == pytest.approx(2 / 3)


def test_a_long_step_is_shortened_to_two_medians() -> None:
    scales = clip_scales(torch.tensor([1.0, 1.0, 2.0, 10.0, 1.5]))  # median 1.5
    assert scales.tolist() == pytest.approx([1, 1, 1, 0.3, 1])
    assert clip_scales(torch.tensor([1.0, 100.0])).tolist() == [1, 1]


SCALARS = st.one_of(
    st.sampled_from([0.0, -0.0, 5e-324, 1e-310, 1.0, -1.0, 1e308, -1e308]),
    st.sampled_from([float("nan"), float("inf"), float("-inf")]),
    st.floats(-1, 2),
    st.floats(0, 1),
)


@st.composite
def matrices(draw: st.DrawFn) -> torch.Tensor:
    clients, classes = draw(st.integers(1, 8)), draw(st.integers(1, 5))
    size = clients * classes
    values = draw(st.lists(SCALARS, min_size=size, max_size=size))
    matrix = torch.tensor(values, dtype=torch.double).reshape(clients, classes)
    if draw(st.booleans()):
        matrix[:, 0] = 0
    return matrix


def check_cap(matrix: torch.Tensor, rule: Rule) -> None:
    shares = guarded_weights(matrix, rule, Guard(enabled=True))
    assert torch.isfinite(shares).all()
    assert shares.min() >= 0
    assert shares.max() <= 2 / peers(matrix) + 1e-9
    assert shares.sum() <= 1 + 1e-6


RULES = st.sampled_from(["paper", "released"])


BC3 = "BC-3 claims of any kind, no share above the cap"


def test_no_scalars_whatever_lift_a_share_above_the_cap(tried_on: Any) -> None:
    tried_on(BC3, 500, check_cap, matrices(), RULES)


@pytest.mark.slow
def test_none_of_ten_thousand_matrices_lifts_a_share_above_the_cap(
    tried_on: Any,
) -> None:
    tried_on(BC3, 10_000, check_cap, matrices(), RULES)


def honest_matrix(clients: int, classes: int, seed: int) -> torch.Tensor:
    """Class means of 0.25 to 0.55, clients 0.05 around them, a quarter absent."""
    make = torch.Generator().manual_seed(seed)
    size = clients, classes
    mean = 0.25 + 0.3 * torch.rand(1, classes, generator=make, dtype=torch.double)
    noise = 0.05 * torch.randn(size, generator=make, dtype=torch.double)
    present = torch.rand(size, generator=make) < 0.75
    return (mean + noise).clamp(0.01, 1) * present


@pytest.mark.parametrize(("clients", "classes"), [(9, 10), (4, 7), (2, 10)])
def test_honest_clients_hardly_notice_the_guard(clients: int, classes: int) -> None:
    changes = []
    for seed in range(100):
        matrix = honest_matrix(clients, classes, seed)
        free = diversity_weights(matrix)
        changes.append(
            (guarded_weights(matrix, "paper", Guard(enabled=True)) - free).abs().sum()
        )
    assert torch.stack(changes).mean() <= 0.002


def test_a_lie_within_the_range_gets_no_more_than_two_fair_shares() -> None:
    free, held = [], []
    for seed in range(100):
        matrix = honest_matrix(9, 10, seed)
        matrix[0] = 1.0
        free.append(diversity_weights(matrix)[0])
        held.append(guarded_weights(matrix, "paper", Guard(enabled=True))[0])
    assert torch.stack(free).mean() > 0.25
    assert torch.stack(held).max() <= 2 / 9 + 1e-9


def test_the_released_rule_caps_itself() -> None:
    matrix = honest_matrix(9, 10, 0)
    matrix[0] = 1.0  # similarity zero in every class
    assert diversity_weights(matrix, "released")[0] <= 1 / 8 + 1e-9
