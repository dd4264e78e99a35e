"""(FL)², with thresholds, perturbation and shares worked by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from fedsemi.data.client import Batch
from fedsemi.messages import CONFIDENCE
from fedsemi.methods.fl2 import FL2
from fedsemi.models.classifier import Output
from fedsemi.objectives.sharpness import SharpnessAware, client_thresholds, sharpest


def test_a_threshold_follows_how_sure_the_model_is_of_a_class_here():
    # Mean confidence (.9 + .7) / 2 = .8; mean prediction (.6, .4): .8 · (1, 2/3).
    found = client_thresholds(torch.tensor([[0.9, 0.1], [0.3, 0.7]]))
    assert found.tolist() == pytest.approx([0.8, 0.8 * 2 / 3])


def test_the_perturbation_is_as_long_as_the_radius_in_the_scale_of_the_weights():
    weights = [torch.tensor([3.0, -4.0]), torch.tensor([2.0])]
    gradients = [torch.tensor([1.0, 0.0]), torch.tensor([2.0])]
    # |w| g = (3, 0) and 4, of length 5; ε = .1 |w| (|w| g) / 5.
    first, second = sharpest(weights, gradients, radius=0.1)
    assert first.tolist() == pytest.approx([0.1 * 9 / 5, 0.0])
    assert second.tolist() == pytest.approx([0.1 * 8 / 5])
    still = sharpest(weights, [None, torch.zeros(1)], radius=0.1)
    assert not any(step.any() for step in still)


def test_a_client_counts_by_what_it_lacks_in_confidence(tiny_setup, make_update):
    told = [{CONFIDENCE: torch.tensor([c])} for c in (0.9, 0.6, 0.5)]
    updates = [
        make_update(k, num_unlabeled=9, statistics=each) for k, each in enumerate(told)
    ]
    # .1 : .4 : .5
    shares = FL2(tiny_setup).contributions(updates).tolist()
    assert shares == pytest.approx([0.1, 0.4, 0.5])
    sure = {CONFIDENCE: torch.ones(1)}
    both = [make_update(k, num_unlabeled=9, statistics=sure) for k in range(2)]
    assert FL2(tiny_setup).contributions(both).tolist() == [0.5, 0.5]


@pytest.fixture
def batch():
    return Batch(torch.empty(0, dtype=torch.long), torch.arange(6))


def objective_and_student(make_bench, **settings):
    given = {"cutoff": 0.0, "radius": 0.1, "steady_weight": 1.0} | settings
    bench = make_bench(unlabeled=6)
    objective = SharpnessAware(bench, *given.values())
    objective.start_epoch(bench.setup.model.build(0).eval())
    return objective, bench.setup.model.build(1).train()


def test_a_step_of_no_length_moves_no_prediction(make_bench, batch):
    def loss(**settings):
        objective, student = objective_and_student(make_bench, **settings)
        return float(objective(student, batch).detach())

    assert loss(radius=0.0) == pytest.approx(loss(steady_weight=0.0), abs=1e-6)
    assert loss(radius=0.5) > loss(steady_weight=0.0)
    assert loss(cutoff=1.1) == loss(steady_weight=0.0)  # nobody is that sure


class Constant(nn.Module):
    """A model that says (3/4, 1/4) of every image."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([math.log(3.0), 0.0]))

    def forward(self, images):
        return Output(images, self.weight.expand(len(images), 2))


def test_the_divergence_is_from_the_plain_to_the_moved_prediction(make_bench):
    objective = SharpnessAware(
        make_bench(unlabeled=4), cutoff=0.95, radius=1.0, steady_weight=2.0
    )
    objective.labeler.pseudo_label.copy_(torch.tensor([0, 0, 0, -1]))
    objective._confidence = torch.tensor([1.0, 0.95, 0.9, 1.0])
    batch = Batch(torch.empty(0, dtype=torch.long), torch.arange(4))
    # w = (log 3, 0) has the gradient (-¼, ¼): |w| g = (-¼ log 3, 0), so that a radius
    # of 1 moves w by (-log 3, 0) to (0, 0), which says (½, ½).
    divergence = 0.75 * math.log(0.75 / 0.5) + 0.25 * math.log(0.25 / 0.5)
    # Three of four images have a label, each of loss log 4/3.
    expected = 0.75 * math.log(4 / 3) + 2 * divergence
    assert float(objective(Constant(), batch).detach()) == pytest.approx(expected)


def test_moved_weights_teach_the_student_and_leave_its_batch_norm_alone(
    make_bench, batch
):
    objective, student = objective_and_student(make_bench, radius=0.5)
    before = {k: v.clone() for k, v in student.named_parameters()}
    objective(student, batch).backward()
    assert all(torch.equal(before[k], v) for k, v in student.named_parameters())
    assert student.head.weight.grad is not None and student.head.weight.grad.any()
    counters = [v for k, v in student.named_buffers() if k.endswith("tracked")]
    assert {int(counter) for counter in counters} == {1}


def test_the_mean_confidence_is_told_and_labels_are_those_above_the_thresholds(
    make_bench,
):
    objective, _ = objective_and_student(make_bench)
    told = objective.statistics()[CONFIDENCE]
    assert told.shape == (1,) and 0.25 <= float(told) <= 1
    assert objective.num_pseudo == int((objective.labeler.pseudo_label >= 0).sum())
    empty = SharpnessAware(make_bench(labeled=4), 0.95, 0.1, 1.0)
    empty.start_epoch(None)  # type: ignore[arg-type]
    assert empty.statistics() == {}


def test_under_ls_the_server_learns_after_the_clients(tiny_setup, make_client, play):
    clients = [make_client(0, 9, 0), make_client(1, 0, 12), make_client(2, 0, 10)]
    state, updates, _ = play(FL2(tiny_setup), clients, rounds=1)
    assert {(u.client, u.group) for u in updates} == {(0, 2), (0, 1), (1, 0), (2, 0)}
    assert set(state.contributions) == {1, 2}
    assert sum(state.contributions.values()) == pytest.approx(1)


def test_a_client_without_a_confidence_counts_as_one_of_mean_confidence(
    tiny_setup, make_update
):
    told = [{CONFIDENCE: torch.tensor([c])} for c in (0.9, 0.5)]
    updates = [
        make_update(k, num_unlabeled=9, statistics=each) for k, each in enumerate(told)
    ]
    labeled = make_update(2, num_labeled=7)
    # .1 : .5 : .3
    shares = FL2(tiny_setup).contributions([*updates, labeled]).tolist()
    assert shares == pytest.approx([1 / 9, 5 / 9, 3 / 9])
    assert FL2(tiny_setup).contributions([labeled]).tolist() == [1.0]
    sure = make_update(0, num_unlabeled=9, statistics={CONFIDENCE: torch.ones(1)})
    assert FL2(tiny_setup).contributions([sure, labeled]).tolist() == [0.5, 0.5]
