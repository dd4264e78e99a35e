from functools import partial

import pytest
import torch

from fedsemi.messages import CENTROIDS
from fedsemi.methods.orchestra import OrchestraStage
from fedsemi.weights import digest

Tiny = partial(
    OrchestraStage,
    projector_width=6,
    global_centroids=4,
    local_centroids=2,
    memory_size=12,
    server_steps=5,
)


def test_the_first_round_clusters_and_does_not_learn(tiny_setup, tiny_clients, play):
    method = Tiny(tiny_setup)
    start = method.init(tiny_setup.model.build(0).state_dict(), [], 7)
    state, updates, memories = play(method, tiny_clients, 1)
    assert all(torch.equal(v, start.whole[k]) for k, v in state.whole.items())
    assert not torch.equal(state.centroids, start.centroids)
    assert [len(memories[c.id]["memory"]) for c in tiny_clients] == [12, 12, 12, 1, 0]
    assert {u.client for u in updates if u.statistics[CENTROIDS].any()} == {0, 1, 2}


def test_later_rounds_learn_and_centroids_stay_on_the_sphere(
    tiny_setup, tiny_clients, play
):
    state, updates, _ = play(Tiny(tiny_setup), tiny_clients, 2)
    torch.testing.assert_close(state.centroids.norm(dim=1), torch.ones(4))
    for update in updates[:3]:
        sent = update.statistics[CENTROIDS].view(2, 6)
        torch.testing.assert_close(sent.norm(dim=1), torch.ones(2))
    start = tiny_setup.model.build(0).state_dict()
    key = next(key for key in start if key.endswith("weight"))
    assert not torch.equal(state.weights[key], start[key])
    assert all("memory" not in key for u in updates for key in u.weights)
    tiny_setup.load(state.weights)  # a plain classifier is handed on


def test_a_late_client_fills_its_memory_first(tiny_setup, make_client, play):
    method, client = Tiny(tiny_setup), make_client(1, 0, 14)
    state, _, _ = play(method, [client], 1)
    (task,) = method.plan(state)
    _, memory = method.train(task, client, {})
    assert memory["memory"].norm(dim=1) == pytest.approx(torch.ones(12))


def test_clients_without_enough_images_leave_the_centroids(
    tiny_setup, tiny_clients, play
):
    method = Tiny(tiny_setup)
    start = method.init(tiny_setup.model.build(0).state_dict(), [], 7)
    state, _, _ = play(method, tiny_clients[3:], 2)
    assert torch.equal(state.centroids, start.centroids)


def test_labels_teach_the_head_and_never_the_encoder(tiny_setup, tiny_clients, play):
    with_labels = play(Tiny(tiny_setup), tiny_clients)[0]
    without = play(Tiny(tiny_setup, monitor_labels="none"), tiny_clients)[0]
    start = tiny_setup.model.build(0).state_dict()
    for key, value in with_labels.weights.items():
        if key.startswith("encoder."):
            assert torch.equal(value, without.weights[key])
    assert torch.equal(without.weights["head.weight"], start["head.weight"])
    assert not torch.equal(with_labels.weights["head.weight"], start["head.weight"])


def test_workers_change_no_bit(tiny_setup, tiny_clients, play):
    method = Tiny(tiny_setup)
    alone, together = (play(method, tiny_clients, 2, workers)[0] for workers in (1, 2))
    assert digest(alone.whole) == digest(together.whole)
    assert torch.equal(alone.centroids, together.centroids)
