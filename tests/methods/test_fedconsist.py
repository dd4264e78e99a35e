"""FedConsist: fixed shares by label status, and odd federations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fedsemi.contributions import by_label_status
from fedsemi.data.client import Client
from fedsemi.messages import Update
from fedsemi.methods.fedconsist import FedConsist
from fedsemi.objectives.workbench import Setup


def _update(client: int, labels: int, unlabeled: int) -> Update:
    return Update(client, 0, {"x": torch.zeros(1)}, labels, unlabeled, num_pseudo=0)


def test_shares_depend_on_labels_and_sizes_only() -> None:
    shares = by_label_status([_update(0, 5, 0), _update(1, 0, 30), _update(2, 0, 10)])
    assert shares.tolist() == pytest.approx([0.5, 0.375, 0.125])


def test_a_part_that_nobody_holds_leaves_its_share_to_the_other() -> None:
    assert by_label_status([_update(0, 5, 0), _update(1, 5, 0)]).tolist() == [0.5, 0.5]
    assert by_label_status([_update(0, 0, 4)]).tolist() == [1.0]


def test_odd_federation_gives_finite_weights(
    tiny_setup: Setup, tiny_clients: list[Client], play: Callable[..., Any]
) -> None:
    state, _, _ = play(FedConsist(tiny_setup), tiny_clients)
    assert all(v.isfinite().all() for v in state.weights.values())
    # labeled 20 : 9, unlabeled 18 : 12 : 1
    expected = {0: 10 / 29, 1: 9 / 31, 2: 4.5 / 29 + 6 / 31, 3: 0.5 / 31, 4: 0.0}
    assert state.contributions == pytest.approx(expected)


def test_consistency_moves_an_unlabeled_client(
    tiny_setup: Setup, make_client: Callable[..., Client], play: Callable[..., Any]
) -> None:
    _, (update,), _ = play(FedConsist(tiny_setup), [make_client(0, 0, 12)], rounds=1)
    start = tiny_setup.model.build(0).state_dict()
    assert not torch.equal(update.weights["head.weight"], start["head.weight"])
