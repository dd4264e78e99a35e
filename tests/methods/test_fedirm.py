"""FedIRM: who is asked when, what the server keeps, and odd federations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from fedsemi.data.client import Client
from fedsemi.errors import ProtocolError
from fedsemi.local import Setup
from fedsemi.messages import RELATION, ClientInfo, Update
from fedsemi.methods.fedirm import FedIRM


def test_unlabeled_clients_join_later(
    tiny_setup: Setup, tiny_clients: list[Client], play: Callable[..., Any]
) -> None:
    method = FedIRM(tiny_setup, unlabeled_after=1)
    state, updates, _ = play(method, tiny_clients, rounds=1)
    assert [u.client for u in updates] == [0, 2]
    assert state.relation.view(3, 3).sum(1).tolist() == pytest.approx([1, 1, 1])
    state, updates, memories = play(method, tiny_clients, rounds=3)
    assert [u.client for u in updates] == [0, 1, 2, 3, 4]
    assert [u.client for u in updates if RELATION in u.statistics] == [0, 2]
    assert int(memories[1]["unsupervised.mean_teacher.step"]) == 3 * 2
    assert all(v.isfinite().all() for v in state.weights.values())


def test_models_count_alike_unless_they_saw_nothing(tiny_setup: Setup) -> None:
    method = FedIRM(tiny_setup)
    infos = [ClientInfo(0, 90, 0), ClientInfo(1, 0, 10), ClientInfo(2, 0, 0)]
    state = method.init({"x": torch.zeros(1)}, infos)
    relation = {RELATION: torch.eye(3).flatten()}
    updates = [
        Update(0, 0, {"x": torch.tensor([1.0])}, 90, 0, statistics=relation),
        Update(1, 0, {"x": torch.tensor([3.0])}, 0, 10),
        Update(2, 0, {"x": torch.tensor([9.0])}, 0, 0),
    ]
    assert float(method.aggregate(state, updates).weights["x"]) == 2.0


def test_relations_are_averaged_over_clients_that_know_the_class(
    tiny_setup: Setup,
) -> None:
    method = FedIRM(tiny_setup)
    state = method.init({"x": torch.zeros(1)}, [ClientInfo(0, 5, 0)])
    one = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 0]])
    two = torch.tensor([[0.5, 0.5, 0], [0, 0, 0], [0, 0, 0]])
    updates = [
        Update(i, 0, {"x": torch.zeros(1)}, 5, 0, statistics={RELATION: m.flatten()})
        for i, m in enumerate((one, two))
    ]
    expected = torch.tensor([[0.75, 0.25, 0], [0, 1, 0], [0, 0, 0]])
    found = method.aggregate(state, updates).relation
    assert_close(found, expected.flatten())


def test_a_federation_without_labels_is_refused(tiny_setup: Setup) -> None:
    with pytest.raises(ProtocolError, match="fedirm needs a client with labels"):
        FedIRM(tiny_setup).init({}, [ClientInfo(0, 0, 5)])
