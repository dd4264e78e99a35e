"""IsoFed: two phases in a round, and means that never meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fedsemi.data.client import Client
from fedsemi.errors import ProtocolError
from fedsemi.messages import ClientInfo, Update
from fedsemi.methods.isofed import IsoFed
from fedsemi.objectives.workbench import Setup


def _update(client: int, labels: int, unlabeled: int, x: float, group: int) -> Update:
    return Update(
        client,
        0,
        {"x": torch.tensor([x])},
        labels,
        unlabeled,
        num_pseudo=1,
        group=group,
    )


def test_a_round_is_over_after_the_unlabeled_phase(tiny_setup: Setup) -> None:
    method = IsoFed(tiny_setup)
    clients = [ClientInfo(0, 10, 0), ClientInfo(1, 0, 30), ClientInfo(2, 0, 10)]
    state = method.init({"x": torch.zeros(1)}, clients)
    assert [t.client for t in method.plan(state)] == [0]
    state = method.aggregate(state, [_update(0, 10, 0, 8.0, 0)])
    assert (state.round, float(state.weights["x"])) == (0, 8.0)
    tasks = method.plan(state)
    assert [t.client for t in tasks] == [1, 2]
    assert float(tasks[0].weights["x"]) == 8.0
    answers = [_update(1, 0, 30, 1.0, 1), _update(2, 0, 10, 5.0, 1)]
    state = method.aggregate(state, answers)
    # By size, 3 : 1; the labeled model is in it by descent only.
    assert (state.round, float(state.weights["x"])) == (1, 2.0)
    assert [t.client for t in method.plan(state)] == [0]


def test_the_mean_of_labeled_clients_is_tested_as_well(tiny_setup: Setup) -> None:
    method = IsoFed(tiny_setup)
    clients = [ClientInfo(0, 10, 0), ClientInfo(1, 0, 30)]
    state = method.init({"x": torch.zeros(1)}, clients)
    assert state.also_tested == {}
    state = method.aggregate(state, [_update(0, 10, 0, 8.0, 0)])
    state = method.aggregate(state, [_update(1, 0, 30, 1.0, 1)])
    assert float(state.weights["x"]) == 1.0
    assert float(state.also_tested["labeled"]["x"]) == 8.0


def test_partially_labeled_client_takes_part_twice_and_keeps_its_teacher(
    tiny_setup: Setup, tiny_clients: list[Client], play: Callable[..., Any]
) -> None:
    method = IsoFed(tiny_setup, pretrain_epochs=1)
    _, updates, memories = play(method, tiny_clients, rounds=2)
    mine = [(u.group, u.num_labeled, u.num_unlabeled) for u in updates if u.client == 2]
    assert mine == [(0, 9, 0), (1, 0, 12)]
    # Two batches of 12 in two rounds; pre-training does not move the teacher.
    assert int(memories[2]["then.step"]) == 4


def test_pre_training_is_left_out_unless_asked_for(
    tiny_setup: Setup, tiny_clients: list[Client], play: Callable[..., Any]
) -> None:
    asked = IsoFed(tiny_setup, pretrain_epochs=1)
    with_it, _, _ = play(asked, tiny_clients, rounds=1)
    without_it, _, _ = play(IsoFed(tiny_setup), tiny_clients, rounds=1)
    key = "head.weight"
    assert not torch.equal(with_it.weights[key], without_it.weights[key])
    assert all(v.isfinite().all() for v in with_it.weights.values())


def test_bits_do_not_depend_on_the_number_of_workers(
    tiny_setup: Setup, tiny_clients: list[Client], play: Callable[..., Any]
) -> None:
    one, _, _ = play(IsoFed(tiny_setup), tiny_clients, rounds=1)
    two, _, _ = play(IsoFed(tiny_setup), tiny_clients, rounds=1, workers=2)
    assert all(torch.equal(one.weights[k], two.weights[k]) for k in one.weights)


@pytest.mark.parametrize(
    ("clients", "missing"),
    [([ClientInfo(0, 5, 0)], "unlabeled images"), ([ClientInfo(0, 0, 5)], "labels")],
)
def test_both_kinds_of_data_are_needed(
    tiny_setup: Setup, clients: list[ClientInfo], missing: str
) -> None:
    with pytest.raises(ProtocolError, match=f"isofed needs a client with {missing}"):
        IsoFed(tiny_setup).init({}, clients)
