"""RSCFed: groups, distances and the weights that follow from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from fedsemi.contributions import by_consensus, consensus_start, consensus_weights
from fedsemi.data.client import Client
from fedsemi.messages import ClientInfo, Update
from fedsemi.methods.rscfed import RSCFed
from fedsemi.objectives.workbench import LocalTraining, Setup

SIZE = torch.tensor([600.0, 800.0, 700.0], dtype=torch.float64)
FIRST = torch.tensor([True, False, False])
NOBODY = torch.zeros(3, dtype=torch.bool)
DISTANCE = torch.tensor([3.0, 5.0, 4.0], dtype=torch.float64)


def _close(found: Tensor, expected: list[float]) -> None:
    assert_close(found, torch.tensor(expected).double(), atol=5e-7, rtol=0)


def test_first_mean_is_by_size_with_labels_boosted() -> None:
    # 6 · 600 : 800 : 700 = 3600 : 800 : 700 of 5100
    _close(consensus_start(SIZE, FIRST, 6.0), [0.705882, 0.156863, 0.137255])


def test_golden_weights_of_a_group_with_labels() -> None:
    start = consensus_start(SIZE, FIRST, 6.0)
    boost = torch.tensor([6.0, 1.0, 1.0])
    weights = consensus_weights(start, SIZE, DISTANCE, 100.0, boost)
    _close(weights, [0.940859, 0.030752, 0.028389])


def test_golden_weights_of_a_group_without_labels() -> None:
    start = consensus_start(SIZE, NOBODY, 6.0)
    weights = consensus_weights(start, SIZE, DISTANCE, 1e4, torch.ones(3))
    _close(weights, [0.999074, 5e-6, 0.000921])


def test_large_distances_do_not_underflow() -> None:
    start = consensus_start(SIZE, NOBODY, 6.0)
    weights = consensus_weights(start, SIZE, DISTANCE * 1e4, 1e4, torch.ones(3))
    assert float(weights.sum()) == pytest.approx(1)


def _update(client: int, labels: int, unlabeled: int, x: float, **more: Any) -> Update:
    weights = {"x": torch.tensor([x]), "steps": torch.tensor(int(10 * x))}
    return Update(client, 0, weights, labels, unlabeled, **more)


def test_boost_enters_once_or_twice() -> None:
    updates = [_update(0, 10, 0, 1.0), _update(1, 0, 10, 1.0)]  # no distance at all
    twice = by_consensus(updates, (1.0, 1.0), boost=3.0)
    once = by_consensus(updates, (1.0, 1.0), boost=3.0, boost_once=True)
    _close(twice, [9 / 10, 1 / 10])
    _close(once, [3 / 4, 1 / 4])


def test_step_counters_are_part_of_the_distance_only_as_released() -> None:
    same = [_update(0, 0, 10, 1.0), _update(1, 0, 10, 1.0)]
    later = replace(same[1], weights={**same[1].weights, "steps": torch.tensor(40)})
    third = _update(2, 0, 10, 1.0)
    updates = [same[0], later, third]
    _close(by_consensus(updates, (1.0, 1.0)), [1 / 3, 1 / 3, 1 / 3])
    # mean 20 steps: distances 10, 20, 10; exp(-1), exp(-2), exp(-1)
    e = torch.tensor([-1.0, -2.0, -1.0]).exp()
    legacy = by_consensus(updates, (1.0, 1.0), legacy_distance=True)
    _close(legacy, (e / e.sum()).tolist())


def test_groups_count_alike_and_each_has_its_own_scale() -> None:
    updates = [
        _update(0, 10, 0, 0.0, group=0),
        _update(1, 0, 10, 0.0, group=0),
        _update(1, 0, 10, 0.0, group=1),
        _update(2, 0, 30, 4.0, group=1),
    ]
    shares = by_consensus(updates, (0.0, 10.0), boost=1.0)
    # group 1: mean 3, distances 3 and 1; 10 · exp(-10 · 3 / 10) : 30 · exp(-10 / 30)
    raw = torch.tensor([10.0, 30.0]) * torch.tensor([-3.0, -1 / 3]).exp()
    second = (raw / raw.sum() / 2).tolist()
    _close(shares, [0.25, 0.25, *second])


def test_client_without_data_counts_nothing() -> None:
    shares = by_consensus([_update(0, 0, 0, 9.0), _update(1, 0, 5, 1.0)], (1.0, 1.0))
    _close(shares, [0.0, 1.0])
    assert not by_consensus([_update(0, 0, 0, 9.0)], (1.0, 1.0)).any()
    assert len(by_consensus([], (1.0, 1.0))) == 0


def test_each_round_draws_three_groups_of_five_different_clients(
    tiny_setup: Setup,
) -> None:
    method = RSCFed(tiny_setup)
    clients = [ClientInfo(id, 5 * (id == 0), 5) for id in range(10)]
    state = method.init({"x": torch.zeros(1)}, clients, seed=3)
    tasks = method.plan(state)
    drawn = [[t.client for t in tasks if t.group == g] for g in range(3)]
    assert all(len(set(group)) == 5 for group in drawn)
    assert len({tuple(group) for group in drawn}) > 1
    assert tasks == method.plan(state)
    later = method.plan(replace(state, round=1))
    assert [t.client for t in later] != [t.client for t in tasks]


def test_client_in_two_groups_begins_from_the_same_weights_with_another_seed(
    tiny_setup: Setup,
) -> None:
    method = RSCFed(tiny_setup, groups=2, group_size=2)
    clients = [ClientInfo(0, 5, 0), ClientInfo(1, 0, 5)]
    tasks = method.plan(method.init({"x": torch.zeros(1)}, clients))
    first, second = (t for t in tasks if t.client == 1)
    assert first.weights is second.weights
    assert first.seed != second.seed


def test_teacher_lives_on_in_the_memory(
    tiny_setup: Setup, tiny_clients: list[Client], play: Callable[..., Any]
) -> None:
    method = RSCFed(tiny_setup, groups=2)
    state, _, memories = play(method, tiny_clients, rounds=2)
    # Three batches of 8, 8 and 2 in each of two groups and two rounds.
    assert int(memories[1]["unsupervised.step"]) == 3 * 2 * 2
    key = "unsupervised.teacher.head.weight"
    assert not torch.equal(memories[1][key], state.weights["head.weight"])
    assert not any("teacher" in name for name in memories[0])


def test_wholly_odd_federation_gives_finite_weights(
    tiny_setup: Setup, tiny_clients: list[Client], play: Callable[..., Any]
) -> None:
    state, updates, _ = play(RSCFed(tiny_setup), tiny_clients)
    assert all(v.isfinite().all() for v in state.weights.values())
    assert sum(state.contributions.values()) == pytest.approx(1)
    assert {update.client for update in updates} == {0, 1, 2, 3, 4}


def test_bits_do_not_depend_on_the_number_of_workers(
    tiny_setup: Setup, tiny_clients: list[Client], play: Callable[..., Any]
) -> None:
    method = RSCFed(tiny_setup, group_size=4)
    one, _, mine = play(method, tiny_clients, workers=1)
    two, _, theirs = play(method, tiny_clients, workers=2)
    assert all(torch.equal(one.weights[k], two.weights[k]) for k in one.weights)
    for id, memory in mine.items():
        assert memory.keys() == theirs[id].keys()
        assert all(torch.equal(memory[k], theirs[id][k]) for k in memory)


def test_weak_views_and_balanced_softmax_change_the_result(
    tiny_setup: Setup, tiny_clients: list[Client], play: Callable[..., Any]
) -> None:
    strong, _, _ = play(RSCFed(tiny_setup), tiny_clients, rounds=1)
    weak, _, _ = play(RSCFed(tiny_setup, views="weak"), tiny_clients, rounds=1)
    local = LocalTraining(batch_size=8, loss="balanced-softmax")
    balanced, _, _ = play(RSCFed(replace(tiny_setup, local=local)), tiny_clients, 1)
    for other in (weak, balanced):
        assert not torch.equal(
            strong.weights["head.weight"], other.weights["head.weight"]
        )
