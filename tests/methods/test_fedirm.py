"""FedIRM: who is asked when, what the server keeps, and odd federations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from fedsemi.data.client import Client
from fedsemi.errors import ProtocolError
from fedsemi.messages import RELATION, ClientInfo, Update
from fedsemi.methods.fedirm import FedIRM
from fedsemi.objectives.workbench import Setup


def test_unlabeled_clients_join_later(
    tiny_setup: Setup, tiny_clients: list[Client], play: Callable[..., Any]
) -> None:
    method = FedIRM(tiny_setup, unlabeled_after=0)
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


def test_relations_are_averaged_over_labeled_clients(tiny_setup: Setup) -> None:
    method = FedIRM(tiny_setup)
    state = method.init({"x": torch.zeros(1)}, [ClientInfo(0, 5, 0)])
    third = [1 / 3, 1 / 3, 1 / 3]
    one = torch.tensor([[1.0, 0, 0], [0, 1, 0], third])
    two = torch.tensor([[0.5, 0.5, 0], third, third])
    updates = [
        Update(i, 0, {"x": torch.zeros(1)}, 5, 0, statistics={RELATION: m.flatten()})
        for i, m in enumerate((one, two))
    ]
    # A class that one of them lacks counts as that client's uniform row.
    expected = torch.tensor([[0.75, 0.25, 0], [1 / 6, 4 / 6, 1 / 6], third])
    found = method.aggregate(state, updates).relation
    assert_close(found, expected.flatten())


def test_unlabeled_clients_join_in_round_21_on_a_ramp_from_round_0(
    tiny_setup: Setup,
) -> None:
    method = FedIRM(tiny_setup)
    infos = [ClientInfo(0, 5, 0), ClientInfo(1, 0, 5)]
    known = replace(method.init({"x": torch.zeros(1)}, infos), relation=torch.ones(9))

    def ramps(round: int) -> list[float | None]:
        tasks = method.plan(replace(known, round=round))
        told = [task.broadcast.get("ramp") for task in tasks]
        return [None if ramp is None else float(ramp) for ramp in told]

    assert ramps(20) == [None]
    # exp(-5 (1 - 21/30)²) = exp(-.45) = .637628
    assert ramps(21) == pytest.approx([0.637628] * 2, abs=1e-6)
    # exp(-5 (1 - 27/30)²) = exp(-.05) = .951229, and one from round 30 on
    assert ramps(27) == pytest.approx([0.951229] * 2, abs=1e-6)
    assert ramps(30) == ramps(500) == [1.0, 1.0]


def test_nobody_joins_before_relations_are_known(tiny_setup: Setup) -> None:
    method = FedIRM(tiny_setup, unlabeled_after=0)
    infos = [ClientInfo(0, 5, 0), ClientInfo(1, 0, 5)]
    state = replace(method.init({"x": torch.zeros(1)}, infos), round=9)
    assert [task.client for task in method.plan(state)] == [0]


def test_a_federation_without_labels_is_refused(tiny_setup: Setup) -> None:
    with pytest.raises(ProtocolError, match="fedirm needs a client with labels"):
        FedIRM(tiny_setup).init({}, [ClientInfo(0, 0, 5)])
