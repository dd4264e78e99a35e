"""Twin-sight, with contrast and neighborhoods worked by hand."""

from __future__ import annotations

import math

import pytest
import torch

from fedsemi.data.client import Batch
from fedsemi.messages import ClientInfo
from fedsemi.methods.twin_sight import TwinSight
from fedsemi.objectives.base import Objective
from fedsemi.objectives.twins import Twins, contrast, neighborhoods


def test_two_projections_of_an_image_shall_be_the_nearest():
    one = torch.tensor([[2.0, 0.0], [0.0, 3.0]])
    # Of three others, the partner has cosine 1 and two have 0.
    expected = math.log(math.e + 2) - 1
    assert float(contrast(one, one, temperature=1.0)) == pytest.approx(expected)
    # Partners at right angles and one other at cosine 1: log (2 + e).
    expected = math.log(math.e + 2)
    found = contrast(one, one.flip(0), temperature=1.0)
    assert float(found) == pytest.approx(expected)


def test_neighborhoods_differ_by_the_cosines_that_do():
    apart = torch.tensor([[1.0, 0.0], [0.0, 5.0]])
    same = torch.tensor([[1.0, 1.0], [2.0, 2.0]])
    # Cosines 0 against 1 in two of four places.
    assert float(neighborhoods(apart, same)) == pytest.approx(0.5)
    assert float(neighborhoods(apart, 7 * apart)) == pytest.approx(0)


class Nothing(Objective):
    def forward(self, student, batch):
        return torch.zeros(())


def twins_loss(make_bench, **weights):
    given = {"contrast_weight": 0.0, "neighbor_weight": 0.0} | weights
    bench = make_bench(labeled=4, unlabeled=6)
    method = TwinSight(bench.setup, projector_width=4)
    state = method.init(bench.setup.model.build(0).state_dict(), [bench.client.info])
    student = bench.setup.load(state.whole, method.parts).train()
    objective = Twins(bench, Nothing(), *given.values(), temperature=0.07)
    loss = objective(student, Batch(torch.arange(4), torch.arange(6)))
    return loss, student


def test_the_contrast_teaches_the_twin_alone(make_bench):
    loss, student = twins_loss(make_bench, contrast_weight=1.0)
    loss.backward()
    grads = {k: p.grad for k, p in student.named_parameters()}
    assert any(g is not None and g.any() for k, g in grads.items() if "twin" in k)
    assert not any(
        g.any() for k, g in grads.items() if "twin" not in k and g is not None
    )


def test_neighborhoods_begin_alike_as_both_networks_do(make_bench):
    loss, _ = twins_loss(make_bench, neighbor_weight=1.0)
    assert float(loss.detach()) == pytest.approx(0, abs=1e-9)


def test_the_second_network_travels_and_is_averaged_but_not_handed_on(
    tiny_setup, tiny_clients, play
):
    state, updates, _ = play(TwinSight(tiny_setup, projector_width=4), tiny_clients)
    assert all(key.startswith("twin.") for key in state.parts)
    assert any(key.startswith("twin.encoder.") for key in state.parts)
    assert set(updates[0].weights) == set(state.weights) | set(state.parts)
    assert not any(key.startswith("twin.") for key in state.weights)
    first = [u.weights["twin.projector.0.bias"] for u in updates]
    sizes = torch.tensor([u.num_labeled + u.num_unlabeled for u in updates]).float()
    mean = sum(n * w for n, w in zip(sizes / sizes.sum(), first, strict=True))
    assert torch.allclose(state.parts["twin.projector.0.bias"], mean, atol=1e-6)


def test_the_projector_depends_on_the_seed_alone(tiny_setup):
    method = TwinSight(tiny_setup)
    weights = tiny_setup.model.build(0).state_dict()

    def projector(seed: int) -> torch.Tensor:
        state = method.init(weights, [ClientInfo(0, 4, 4)], seed)
        return state.parts["twin.projector.0.weight"]

    assert torch.equal(projector(1), projector(1))
    assert not torch.equal(projector(1), projector(2))
