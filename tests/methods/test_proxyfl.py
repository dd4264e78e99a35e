"""ProxyFL, with attraction and tuning worked by hand."""

from __future__ import annotations

import math

import pytest
import torch

from fedsemi.data.client import Batch
from fedsemi.methods.proxyfl import ProxyFL
from fedsemi.objectives.proxies import UndecidedProxies, attraction, tuned_rows
from fedsemi.state import ServerState


def test_a_feature_is_drawn_to_rows_as_far_as_their_class_is_probable():
    rows = torch.tensor([[2.0, 0.0], [0.0, 3.0]])
    feature = torch.tensor([[5.0, 0.0]])
    # Cosines (1, 0): softmax e / (e + 1) and 1 / (e + 1).
    near, far = math.log(1 + math.exp(-1)), math.log(math.e + 1)
    for probs, expected in (
        ([1.0, 0.0], near),
        ([0.0, 1.0], far),
        ([0.25, 0.75], 0.25 * near + 0.75 * far),
    ):
        found = attraction(feature, rows, torch.tensor([probs]), temperature=1.0)
        assert found.tolist() == pytest.approx([expected])


def test_one_step_of_tuning_moves_rows_by_their_error():
    mean = torch.zeros(2, 2, dtype=torch.float64)
    rows = torch.eye(2, dtype=torch.float64)[None]
    # All logits are 0, so both classes have ½; samples (1, 0) and (0, 1), mean of two:
    # row 0 gains ½ · ½ of the first and loses ½ · ½ of the second.
    found = tuned_rows(mean, rows, steps=1, lr=1.0)
    assert found.tolist() == [[0.25, -0.25], [-0.25, 0.25]]
    assert torch.equal(tuned_rows(mean, rows, steps=0, lr=1.0), mean)


def test_tuning_ends_in_a_head_that_knows_the_clients_rows():
    draw = torch.Generator().manual_seed(0)
    rows = torch.randn(4, 3, 8, generator=draw).double()
    rows = rows[:1] + 0.3 * rows  # alike, each with its own error
    tuned = tuned_rows(rows.mean(0) * 0, rows, steps=200, lr=0.5)
    guessed = (rows.flatten(0, 1) @ tuned.T).argmax(1)
    assert guessed.tolist() == [0, 1, 2] * 4


def undecided(make_bench, cutoff, **settings):
    bench = make_bench(unlabeled=6)
    given = {"weight": 1.0, "temperature": 0.1} | settings
    objective = UndecidedProxies(bench, cutoff, *given.values())
    student = bench.setup.model.build(0).train()
    objective.start_epoch(student)
    batch = Batch(torch.empty(0, dtype=torch.long), torch.arange(6))
    return objective, student, objective(student, batch)


def test_an_undecided_image_moves_the_encoder_and_not_the_proxies(make_bench):
    _, student, loss = undecided(make_bench, cutoff=1.1)
    loss.backward()
    assert student.head.weight.grad is None or not student.head.weight.grad.any()
    assert any(
        p.grad is not None and p.grad.any() for p in student.encoder.parameters()
    )


def test_undecided_images_may_be_left_out_and_sure_ones_are_counted(make_bench):
    objective, _, loss = undecided(make_bench, cutoff=1.1, weight=0.0)
    assert float(loss.detach()) == 0 and objective.num_pseudo == 0
    objective, _, loss = undecided(make_bench, cutoff=0.0)
    assert objective.num_pseudo == 6 and float(loss.detach()) > 0


def test_the_server_tunes_the_head_alone(tiny_setup, tiny_clients, play):
    plain, *_ = play(ProxyFL(tiny_setup, tuning_steps=0), tiny_clients, rounds=1)
    tuned, *_ = play(ProxyFL(tiny_setup, tuning_steps=3), tiny_clients, rounds=1)
    differing = {
        k for k, v in plain.weights.items() if not torch.equal(v, tuned.weights[k])
    }
    assert differing == {"head.weight"}


def test_a_client_without_images_has_no_say_in_the_head(tiny_setup, make_update):
    method = ProxyFL(tiny_setup)
    weights = tiny_setup.model.build(0).state_dict()
    other = {k: v + 1 if v.is_floating_point() else v for k, v in weights.items()}
    mine = make_update(0, num_labeled=4, weights=weights)
    nobody = make_update(1, weights=other)
    state = ServerState(weights, ())
    alone = method.aggregate(state, [mine])
    both = method.aggregate(state, [mine, nobody])
    assert torch.equal(alone.weights["head.weight"], both.weights["head.weight"])
    assert method.aggregate(state, [nobody]).round == 1
