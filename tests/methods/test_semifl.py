"""SemiFL and its rounds of two phases."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from fedsemi.data.client import Batch
from fedsemi.messages import PSEUDO_LABEL
from fedsemi.methods.fl2 import FL2
from fedsemi.methods.semifl import SemiFL
from fedsemi.objectives.mixed_up import FixAndMix, Given, give_labels, mixed_loss


@pytest.fixture
def server_and_clients(make_client):
    return [make_client(0, 9, 0), make_client(1, 0, 12), make_client(2, 0, 10)]


def phase(method, state, clients):
    """Carry out one phase; return who was asked in which group, updates and state."""
    tasks = method.plan(state)
    updates = [method.train(task, clients[task.client], {})[0] for task in tasks]
    asked = [(task.client, task.group) for task in tasks]
    return asked, updates, method.aggregate(state, updates)


def begun(method, clients):
    weights = method.setup.model.build(0).state_dict()
    return method.init(weights, [client.info for client in clients])


def test_clients_are_asked_before_the_server_and_the_server_before_all(
    tiny_setup, server_and_clients
):
    method = SemiFL(tiny_setup, cutoff=0.3)
    asked, _, state = phase(
        method, begun(method, server_and_clients), server_and_clients
    )
    assert asked == [(0, 2)]
    asked, _, state = phase(method, state, server_and_clients)
    assert asked == [(1, 0), (2, 0)] and state.round == 0
    asked, (update,), state = phase(method, state, server_and_clients)
    # The server's own model is the round's, and it has no share in the clients' mean.
    assert asked == [(0, 1)] and state.round == 1
    assert set(state.contributions) == {1, 2}
    assert torch.equal(state.weights["head.weight"], update.weights["head.weight"])
    assert phase(method, state, server_and_clients)[0] == [(1, 0), (2, 0)]


def test_a_round_without_a_server_has_one_phase(tiny_setup, make_client, play):
    partly = [make_client(0, 5, 8), make_client(1, 4, 6)]
    state, updates, _ = play(SemiFL(tiny_setup), partly, rounds=1)
    assert state.round == 1 and {u.group for u in updates} == {0}


@pytest.mark.parametrize("method", [SemiFL, FL2])
def test_a_wholly_labeled_client_among_partly_labeled_ones_is_no_server(
    method, tiny_setup, make_client, play
):
    clients = [make_client(0, 5, 8), make_client(1, 4, 0), make_client(2, 4, 6)]
    state, updates, _ = play(method(tiny_setup), clients, rounds=1)
    assert [(u.client, u.group) for u in updates] == [(0, 0), (1, 0), (2, 0)]
    # Its model is one of three in the mean and does not replace it.
    assert set(state.contributions) == {0, 1, 2}
    assert 0 < state.contributions[1] < 1
    key = "head.weight"
    parts = [state.contributions[u.client] * u.weights[key] for u in updates]
    assert torch.allclose(state.weights[key], sum(parts), atol=1e-6)


def test_clients_that_got_a_label_count_alike_and_others_are_idle(
    tiny_setup, make_update
):
    updates = [
        make_update(1, num_unlabeled=50, num_pseudo=40),
        make_update(2, num_unlabeled=50, num_pseudo=1),
        make_update(3, num_unlabeled=50),
    ]
    assert SemiFL(tiny_setup).contributions(updates).tolist() == [0.5, 0.5, 0.0]
    assert SemiFL(tiny_setup).contributions(updates[2:]).tolist() == [0.0]


def test_where_nobody_is_sure_the_server_goes_on_from_its_model(
    tiny_setup, server_and_clients
):
    method = SemiFL(tiny_setup, cutoff=1.0)
    _, _, first = phase(method, begun(method, server_and_clients), server_and_clients)
    _, _, state = phase(method, first, server_and_clients)
    assert all(
        torch.equal(state.weights[key], first.weights[key]) for key in first.weights
    )
    assert not state.velocity


def test_the_server_learns_for_epochs_of_its_own(tiny_setup, server_and_clients, play):
    once, *_ = play(SemiFL(tiny_setup, server_epochs=1), server_and_clients, rounds=1)
    often, *_ = play(SemiFL(tiny_setup, server_epochs=3), server_and_clients, rounds=1)
    key = next(k for k in once.weights if k.endswith("num_batches_tracked"))
    # Nine labels are a batch of eight; a lone last one is left out. Before the first
    # round the server learns as well.
    assert int(often.weights[key]) - int(once.weights[key]) == 2 * 2


def test_a_mixture_learns_both_labels_by_its_parts():
    logits = torch.tensor([[0.0, math.log(3.0)]])
    first, second = torch.tensor([0]), torch.tensor([1])
    # ¾ · log 4 + ¼ · log 4/3.
    expected = 0.75 * math.log(4) + 0.25 * math.log(4 / 3)
    assert float(mixed_loss(logits, first, second, 0.75)) == pytest.approx(expected)


def test_labels_are_given_once_and_the_unsure_are_left_out(make_bench):
    bench = make_bench(unlabeled=7)
    model = bench.setup.model.build(0).eval()
    given = give_labels(bench, model, cutoff=0.0)
    assert given.sure.all() and torch.equal(given.label, given.pseudo_label.long())
    none = give_labels(bench, model, cutoff=1.0)
    assert not none.sure.any() and len(none.label) == 7
    assert none.part_of(bench.client).num_unlabeled == 0
    empty = give_labels(make_bench(labeled=4), model, cutoff=0.0)
    assert len(empty.label) == 0 and not empty.metrics


def test_mixtures_may_be_left_out_and_depend_on_the_stream_alone(make_bench):
    bench = make_bench(unlabeled=6)
    labels = torch.tensor([0, 1, 2, 3, 0, 1])
    given = Given(labels, labels.short(), {})
    batch = Batch(torch.empty(0, dtype=torch.long), torch.arange(6))

    def loss(weight: float) -> float:
        fresh = make_bench(unlabeled=6)
        objective = FixAndMix(fresh, bench, given, 0.75, weight)
        student = bench.setup.model.build(0).eval()
        return float(objective(student, batch).detach())

    assert loss(1.0) == loss(1.0) > loss(0.0) > 0


def test_pseudo_labels_stay_in_the_clients_memory(tiny_setup, make_client):
    method, client = SemiFL(tiny_setup, cutoff=0.3), make_client(1, 0, 10)
    server = make_client(0, 4, 0)
    weights = tiny_setup.model.build(0).state_dict()
    state = method.init(weights, [server.info, client.info])
    (task,) = method.plan(replace(state, phase=0))
    update, memory = method.train(task, client, {})
    assert len(memory[PSEUDO_LABEL]) == update.num_unlabeled == 10
    assert update.num_pseudo == int((memory[PSEUDO_LABEL] >= 0).sum()) > 0
    assert not update.statistics
