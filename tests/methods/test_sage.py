"""SAGE, with targets worked by hand."""

from __future__ import annotations

import math

import pytest
import torch

from fedsemi.data.client import Batch
from fedsemi.methods.sage import SAGE
from fedsemi.objectives.base import Objective
from fedsemi.objectives.discrepancy import (
    CorrectedPseudoLabel,
    FewerLabels,
    corrected,
    divergence,
)


def test_two_confident_labels_are_mixed_by_the_gap_of_their_confidences():
    local = torch.tensor([[0.99, 0.01, 0.0]])
    overall = torch.tensor([[0.02, 0.94, 0.04]])
    # A gap of .05 halves the trust in the local label, one of .10 quarters it.
    target, counts = corrected(local, overall, cutoff=0.95, half_at=0.05)
    assert target[0].tolist() == pytest.approx([0.5, 0.5, 0.0]) and counts.all()
    far = torch.tensor([[0.02, 0.89, 0.09]])
    target, _ = corrected(local, far, cutoff=0.95, half_at=0.05)
    assert target[0].tolist() == pytest.approx([0.25, 0.75, 0.0])


def test_an_unsure_local_label_leaves_it_to_the_global_one():
    local = torch.tensor([[0.7, 0.3], [0.7, 0.3]])
    overall = torch.tensor([[0.04, 0.96], [0.4, 0.6]])
    target, counts = corrected(local, overall, cutoff=0.95, half_at=0.05)
    assert target.tolist() == [[0, 1], [0, 1]]
    assert counts.tolist() == [True, False]  # nobody is sure of the second


def test_the_loss_is_the_divergence_from_the_target():
    target = torch.tensor([[0.5, 0.5], [1.0, 0.0]])
    logits = torch.tensor([[0.0, math.log(3.0)], [0.0, math.log(3.0)]])
    # ½ log (½ / ¼) + ½ log (½ / ¾) = ½ log 4/3, and log (1 / ¼) = log 4.
    expected = [0.5 * math.log(4 / 3), math.log(4)]
    assert divergence(target, logits).tolist() == pytest.approx(expected)


def test_labels_are_remembered_and_counted_once_an_epoch(make_bench):
    bench = make_bench(unlabeled=6)
    objective = CorrectedPseudoLabel(bench, cutoff=0.0, half_at=0.05)
    student = bench.setup.model.build(0)
    objective.start_epoch(bench.setup.model.build(1).eval())
    batch = Batch(torch.empty(0, dtype=torch.long), torch.arange(4))
    loss = objective(student.train(), batch)
    assert loss.requires_grad and objective.num_pseudo == 4
    assert objective.metrics() == {"admitted": 1.0}
    assert list(objective.state_dict()) == ["pseudo_label"]
    objective.start_epoch(bench.setup.model.build(1).eval())
    assert (objective.pseudo_label == -1).all()


def test_a_sample_that_nobody_is_sure_of_adds_no_loss(make_bench):
    bench = make_bench(unlabeled=4)
    objective = CorrectedPseudoLabel(bench, cutoff=1.0, half_at=0.05)
    objective.start_epoch(bench.setup.model.build(1).eval())
    batch = Batch(torch.empty(0, dtype=torch.long), torch.arange(4))
    loss = objective(bench.setup.model.build(0).train(), batch)
    assert float(loss.detach()) == 0
    assert objective.num_pseudo == 0


@pytest.mark.parametrize(
    ("labeled", "unlabeled", "shown"), [(8, 8, 4), (5, 8, 3), (2, 8, 2), (8, 0, 8)]
)
def test_a_step_has_a_label_for_every_two_unlabeled_images(labeled, unlabeled, shown):
    seen = []

    class Counting(Objective):
        def forward(self, student, batch):
            seen.append(len(batch.labeled))
            return torch.zeros(())

    batch = Batch(torch.arange(labeled), torch.arange(unlabeled))
    FewerLabels(Counting(), ratio=2)(None, batch)
    assert seen == [shown]


def test_clients_are_averaged_by_their_images(tiny_setup, make_update):
    updates = [
        make_update(0, num_labeled=2, num_unlabeled=8),
        make_update(1, num_labeled=2, num_unlabeled=28),
    ]
    assert SAGE(tiny_setup).contributions(updates).tolist() == [0.25, 0.75]


def test_a_part_of_the_clients_is_asked(tiny_setup, tiny_clients, play):
    _, updates, _ = play(SAGE(tiny_setup, participation=0.4), tiny_clients)
    assert len(updates) == 2
