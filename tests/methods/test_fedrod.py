from dataclasses import replace

import pytest
import torch

from fedsemi.client.learners import PseudoLabeling
from fedsemi.methods.fedavg import FedAvgSemi
from fedsemi.methods.fedrod import FedRoD, FedRoDDual
from fedsemi.weights import digest

EAGER = PseudoLabeling(selection="fixmatch", cutoff=0.34)


def test_the_personal_head_stays_at_home(tiny_setup, tiny_clients, play):
    state, updates, memories = play(FedRoD(tiny_setup, learner=EAGER), tiny_clients)
    assert memories[0]["personal.weight"].any()
    plain = tiny_setup.model.build(0).state_dict().keys()
    assert all(update.weights.keys() == plain for update in updates)
    assert state.weights.keys() == plain
    assert not any(update.statistics for update in updates)


def test_plain_fedrod_sends_what_fedavg_semi_with_balanced_softmax_sends(
    tiny_setup, tiny_clients, play
):
    local = replace(tiny_setup.local, loss="balanced-softmax")
    balanced = replace(tiny_setup, local=local)
    rod = play(FedRoD(tiny_setup, learner=EAGER), tiny_clients)[0]
    semi = play(FedAvgSemi(balanced, learner=EAGER), tiny_clients)[0]
    assert digest(rod.weights) == digest(semi.weights)


def test_plain_teaches_personal_heads_by_labels_alone(tiny_setup, tiny_clients, play):
    _, _, memories = play(FedRoD(tiny_setup, learner=EAGER), tiny_clients)
    assert not memories[1]["personal.weight"].any()
    _, _, memories = play(FedRoDDual(tiny_setup, learner=EAGER), tiny_clients)
    assert memories[1]["personal.weight"].any()


def test_personal_heads_take_part_in_the_pseudo_labels_of_dual(
    tiny_setup, tiny_clients, play
):
    # Heads that know one class label otherwise than the global one.
    lopsided = [replace(c, labels=torch.zeros_like(c.labels)) for c in tiny_clients]
    plain = play(FedRoD(tiny_setup, learner=EAGER), lopsided, 3)[0]
    dual = play(FedRoDDual(tiny_setup, learner=EAGER), lopsided, 3)[0]
    assert digest(plain.weights) != digest(dual.weights)


@pytest.mark.parametrize("method", [FedRoD, FedRoDDual])
def test_workers_change_no_bit(tiny_setup, tiny_clients, play, method):
    rod = method(tiny_setup, learner=EAGER)
    alone, together = (play(rod, tiny_clients, 2, workers) for workers in (1, 2))
    assert digest(alone[0].weights) == digest(together[0].weights)
    for id, memory in alone[2].items():
        assert all(torch.equal(memory[k], together[2][id][k]) for k in memory)


def test_dual_without_any_pseudo_label_learns_from_labels(
    tiny_setup, tiny_clients, play
):
    shy = PseudoLabeling(cutoff=1.0)
    _, updates, memories = play(FedRoDDual(tiny_setup, learner=shy), tiny_clients, 1)
    assert updates[1].metrics["personal_loss"] == 0
    assert not memories[1]["personal.weight"].any()
