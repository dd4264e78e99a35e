"""Twin-sight, with contrast and neighborhoods worked by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from fedsemi.data.client import Batch
from fedsemi.messages import ClientInfo
from fedsemi.methods.twin_sight import TwinSight
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective
from fedsemi.objectives.twins import Twin, Twins, contrast, neighborhoods


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


class Table(nn.Module):
    """An encoder whose features are given, whatever the images are."""

    def __init__(self, rows):
        super().__init__()
        self.rows = torch.tensor(rows)

    def forward(self, images):
        return self.rows.repeat(len(images) // len(self.rows), 1)


def networks_of_known_losses():
    """Make a classifier that says (3, 3, 1, 1) / 8, and a twin that finds partners."""
    student = Classifier(Table([[1.0, 1.0], [2.0, 2.0]]), nn.Linear(2, 4))
    nn.init.zeros_(student.head.weight)
    with torch.no_grad():
        student.head.bias.copy_(torch.tensor([3.0, 3.0, 1.0, 1.0]).log())
    student.twin = Twin(Table([[1.0, 0.0], [0.0, 1.0]]), 2, 2)
    for layer in student.twin.projector[::2]:
        nn.init.eye_(layer.weight)
        nn.init.zeros_(layer.bias)
    return student


@pytest.fixture
def known_loss(make_bench):
    """Return the loss of two labeled images of classes 0 and 1, by settings."""

    def loss(student, start, **settings):
        bench = make_bench(labeled=2)
        method = TwinSight(bench.setup, temperature=1.0, **settings)
        objective = method.objective(None, bench)  # type: ignore[arg-type]
        objective.start_epoch(start)
        nothing = torch.empty(0, dtype=torch.long)
        return objective(student, Batch(torch.arange(2), nothing))

    return loss


def test_the_loss_is_that_of_labels_half_the_contrast_and_the_neighborhoods(known_loss):
    student = networks_of_known_losses()
    # Labels at 3/8; partners at cosine 1 among two at 0; cosines 1 against 0 in two of
    # four places.
    labels, contrast, neighbors = math.log(8 / 3), math.log(math.e + 2) - 1, 0.5
    found = float(known_loss(student, student).detach())
    assert found == pytest.approx(labels + 0.5 * contrast + neighbors)
    weights = {"contrast_weight": 2.0, "neighbor_weight": 0.25}
    found = float(known_loss(student, student, **weights).detach())
    assert found == pytest.approx(labels + 2 * contrast + 0.25 * neighbors)


def test_the_proximal_term_holds_both_networks_where_they_began(known_loss):
    student, start = networks_of_known_losses(), networks_of_known_losses()
    start.requires_grad_(False)
    start.head.bias[3] += 1.0
    start.twin.projector[2].bias[0] -= 2.0
    plain, held = (known_loss(student, start, proximal_weight=w) for w in (0.0, 0.5))
    # ½ (1² + 2²)
    assert float((held - plain).detach()) == pytest.approx(2.5)
    (held - plain).backward()
    # The gradient leads back: 2 · ½ · (w − w₀).
    assert student.head.bias.grad.tolist() == pytest.approx([0, 0, 0, -1], abs=1e-6)
    assert student.twin.projector[2].bias.grad.tolist() == pytest.approx([2, 0])


def test_a_client_that_is_held_goes_less_far(tiny_setup, make_client, play):
    # Two batches: the first step begins where the client did.
    def way(weight):
        method = TwinSight(tiny_setup, projector_width=4, proximal_weight=weight)
        state, *_ = play(method, [make_client(0, 16, 0)], rounds=1)
        first = tiny_setup.model.build(0).state_dict()["head.weight"]
        return float((state.weights["head.weight"] - first).norm())

    assert 0 < way(5.0) < way(0.0)


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
