"""FedMatch: what is sent to whom, and what comes of two parts of the weights."""

from __future__ import annotations

import torch

from fedsemi.methods.fedmatch import HELPERS, FedMatch
from fedsemi.objectives.two_parts import flat_psi


def begun(method, clients):
    weights = method.setup.model.build(0).state_dict()
    return method.init(weights, [client.info for client in clients], 5)


def played(method, state, clients):
    tasks = method.plan(state)
    updates = [method.train(task, clients[task.client], {})[0] for task in tasks]
    return tasks, updates, method.aggregate(state, updates)


def few(make_client, number=4):
    return [make_client(id, 6, 10) for id in range(number)]


def test_a_stage_begins_with_the_model_that_it_is_given(tiny_setup, make_client):
    method = FedMatch(tiny_setup)
    state = begun(method, few(make_client))
    fresh = tiny_setup.model.build(0).state_dict()
    assert all(torch.equal(state.weights[name], fresh[name]) for name in fresh)
    # ψ = 0.2 σ of σ + ψ = θ is a sixth of θ.
    torch.testing.assert_close(state.parts["psi.head.weight"], fresh["head.weight"] / 6)


def test_the_sum_of_both_parts_is_what_is_tested_and_sent(tiny_setup, make_client):
    method, clients = FedMatch(tiny_setup), few(make_client)
    state = begun(method, clients)
    tasks, updates, after = played(method, state, clients)
    assert updates[0].weights.keys() == tasks[0].weights.keys() == state.whole.keys()
    name = "encoder.stem.0.weight"
    for kind in (name, f"psi.{name}"):
        mean = torch.stack([update.weights[kind] for update in updates]).mean(0)
        torch.testing.assert_close(after.whole[kind], mean)
    assert after.contributions == {id: 0.25 for id in range(4)}
    assert after.weights.keys() == tiny_setup.model.build(0).state_dict().keys()


def test_helpers_come_in_the_tenth_round_from_the_two_nearest(tiny_setup, make_client):
    method, clients = FedMatch(tiny_setup, helper_interval=2), few(make_client)
    state = begun(method, clients)
    tasks, updates, state = played(method, state, clients)
    assert not any(task.broadcast for task in tasks)
    tasks, _, after = played(method, state, clients)
    assert tasks[0].broadcast.keys() <= method.announces  # or sites would refuse them
    told = tasks[0].broadcast[HELPERS]
    gaps = {id: float((state.said[id] - state.said[0]).norm()) for id in (1, 2, 3)}
    first, second, _ = sorted(gaps, key=gaps.__getitem__)
    assert torch.equal(told[0], flat_psi(updates[first].weights))
    assert torch.equal(told[1], flat_psi(updates[second].weights))
    assert not any(task.broadcast for task in method.plan(after))
    alone = FedMatch(tiny_setup, helpers=0, helper_interval=1)
    _, _, state = played(alone, begun(alone, clients), clients)
    assert not state.said and not state.psi
    assert not any(task.broadcast for task in alone.plan(state))


def test_helpers_change_what_a_client_learns(tiny_setup, make_client):
    sums = []
    clients = few(make_client)
    for helpers in (0, 2):
        method = FedMatch(tiny_setup, cutoff=0.0, helpers=helpers, helper_interval=2)
        state = begun(method, clients)
        for _ in range(2):
            _, _, state = played(method, state, clients)
        sums.append(state.parts["psi.head.weight"])
    assert not torch.equal(*sums)


def test_a_client_without_images_counts_nothing(tiny_setup, make_update):
    updates = [
        make_update(1, num_labeled=3, num_unlabeled=9),
        make_update(2, num_unlabeled=100),
        make_update(3),
    ]
    assert FedMatch(tiny_setup).contributions(updates).tolist() == [0.5, 0.5, 0.0]
    assert FedMatch(tiny_setup).contributions(updates[2:]).tolist() == [0.0]
