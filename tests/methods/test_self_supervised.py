"""Learning rates of self-supervised stages, by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from fedsemi.data.client import Client
from fedsemi.methods.fedbarlow import FedBarlow
from fedsemi.objectives.workbench import Setup


def test_without_a_cosine_the_rate_is_constant(setup: Setup) -> None:
    method = FedBarlow(setup)
    assert {method.rate(0.1, round) for round in (0, 5, 10_000)} == {0.1}


def test_the_rate_rises_for_ten_rounds_from_nearly_nothing(setup: Setup) -> None:
    method = FedBarlow(setup, cosine_rounds=100)
    assert method.rate(0.1, 0) == pytest.approx(1e-6)
    # Half way: 1e-6 + (0.1 - 1e-6) / 2.
    assert method.rate(0.1, 5) == pytest.approx(0.0500005)


def test_then_it_falls_as_half_a_cosine_to_a_floor(setup: Setup) -> None:
    method = FedBarlow(setup, cosine_rounds=100)
    assert method.rate(0.1, 50) == pytest.approx((0.1 + 1e-5) / 2)
    assert method.rate(0.1, 100) == pytest.approx(1e-5)
    assert method.rate(0.1, 200) == pytest.approx(1e-5), "and stays there"
    rates = [method.rate(0.1, round) for round in range(10, 101)]
    assert rates == sorted(rates, reverse=True)


def test_labels_that_only_monitor_can_be_left_out(
    setup: Setup, make_client: Callable[..., Client]
) -> None:
    client = make_client(labeled=6, unlabeled=2)
    student = setup.model.build(0)
    feature = torch.ones(8, setup.model.num_features)

    def loss(method: FedBarlow) -> float:
        return method.online(client)(student, [feature], torch.arange(8)).item()

    assert loss(FedBarlow(setup)) > 0
    assert loss(FedBarlow(setup, monitor_labels="none")) == 0
