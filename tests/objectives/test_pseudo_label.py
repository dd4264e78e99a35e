from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional as F

from fedsemi.data.client import Batch
from fedsemi.objectives.base import SemiSupervised
from fedsemi.objectives.labeler import Labeler
from fedsemi.objectives.pseudo_label import PseudoLabel
from fedsemi.objectives.selection import Fixed, Flexible
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.workbench import Workbench

Make = Callable[..., Workbench]


def unlabeled(count: int) -> Batch:
    return Batch(torch.empty(0).long(), torch.arange(count))


def test_confident_samples_are_counted_and_remembered(make_bench: Make) -> None:
    bench = make_bench(unlabeled=10)
    teacher = bench.setup.model.build(0).eval()
    objective = PseudoLabel(bench, Fixed(0.0), Labeler(bench, 0.0))

    objective.start_epoch(teacher)

    assert objective.num_pseudo == 10
    assert (objective.labeler.pseudo_label >= 0).all()
    assert "labeler.pseudo_label" in objective.state_dict()


def test_nothing_is_counted_above_the_highest_confidence(make_bench: Make) -> None:
    bench = make_bench(unlabeled=10)
    objective = PseudoLabel(bench, Fixed(1.0), Labeler(bench, 1.0))
    teacher = bench.setup.model.build(0).eval()

    objective.start_epoch(teacher)
    loss = objective(bench.setup.model.build(1), unlabeled(10))

    assert objective.num_pseudo == 0
    assert objective.labeler.pseudo_label.tolist() == [-1] * 10
    assert loss.item() == 0.0


def test_loss_is_the_strong_views_cross_entropy_with_the_teachers_label(
    make_bench: Make,
) -> None:
    bench, same = make_bench(unlabeled=6), make_bench(unlabeled=6)
    teacher = bench.setup.model.build(0).eval()
    student = bench.setup.model.build(1).eval()
    objective = PseudoLabel(bench, Fixed(0.0), Labeler(bench, 0.0))

    objective.start_epoch(teacher)
    loss = objective(student, unlabeled(6))

    images = same.client.unlabeled_images
    label = teacher(same.weak(images)).logits.argmax(1)
    expected = F.cross_entropy(student(same.strong(images)).logits, label)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)


def test_balanced_softmax_adds_the_log_share_of_each_pseudo_class(
    make_bench: Make,
) -> None:
    losses = []
    for loss in ("cross-entropy", "balanced-softmax"):
        bench = make_bench(unlabeled=6)
        student = bench.setup.model.build(1).eval()
        labeler = Labeler(bench, 0.5)
        objective = PseudoLabel(bench, Fixed(0.0), labeler, loss=loss)
        objective.start_epoch(bench.setup.model.build(0).eval())
        # Five confident labels, four of class 0 and one of class 1; one is unsure.
        labeler.pseudo_label = torch.tensor([0, 0, 0, 0, 1, -1], dtype=torch.int16)
        losses.append(objective(student, unlabeled(6)).item())
    classes = bench.num_classes
    assert objective.labeler.class_count.tolist() == [4, 1] + [0] * (classes - 2)
    share = torch.tensor([5.0, 2.0] + [1.0] * (classes - 2)) / (5 + classes)
    same = make_bench(unlabeled=6)
    images = same.client.unlabeled_images
    label = same.setup.model.build(0).eval()(same.weak(images)).logits.argmax(1)
    logits = student(same.strong(images)).logits
    expected = F.cross_entropy(logits + share.log(), label)
    assert losses[1] == pytest.approx(expected.item(), rel=1e-5)
    assert losses[0] != losses[1]


def test_samples_that_are_not_selected_add_zero_to_the_mean(make_bench: Make) -> None:
    class Half(Fixed):
        def forward(self, probs: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
            return (index < 3).float()

    losses = []
    for selection in (Half(), Fixed(0.0)):
        bench = make_bench(unlabeled=6)
        student = bench.setup.model.build(1).eval()
        objective = PseudoLabel(bench, selection, Labeler(bench))
        objective.start_epoch(bench.setup.model.build(0).eval())
        losses.append(objective(student, unlabeled(6)).item())
    assert losses[0] < losses[1]


def test_the_local_teacher_is_the_student_and_stays_in_training(
    make_bench: Make,
) -> None:
    bench = make_bench(unlabeled=6)
    student = bench.setup.model.build(1).train()
    objective = PseudoLabel(bench, Fixed(0.0), Labeler(bench, 0.0), teacher="local")

    objective.start_epoch(bench.setup.model.build(0).eval())
    before = objective.num_pseudo
    objective(student, unlabeled(6))

    assert (before, objective.num_pseudo) == (0, 6)
    assert student.training


def test_the_admitted_part_is_logged(make_bench: Make) -> None:
    bench = make_bench(unlabeled=8)
    objective = PseudoLabel(bench, Flexible(8, 4, 0.9), Labeler(bench, 0.9))
    objective.start_epoch(bench.setup.model.build(0).eval())
    objective(bench.setup.model.build(0), unlabeled(8))
    # Nothing was selected yet, so all thresholds are zero and everything passes.
    assert objective.metrics()["admitted"] == 1.0


def test_a_part_without_data_adds_nothing(make_bench: Make) -> None:
    bench = make_bench(labeled=4)
    student = bench.setup.model.build(1).eval()
    both = SemiSupervised(
        Supervised(bench), PseudoLabel(bench, Fixed(), Labeler(bench))
    )
    both.start_epoch(bench.setup.model.build(0).eval())
    batch = Batch(torch.arange(4), torch.empty(0).long())

    loss = both(student, batch)

    alone = Supervised(make_bench(labeled=4))(student, batch)
    assert loss.item() == pytest.approx(alone.item(), rel=1e-6)
