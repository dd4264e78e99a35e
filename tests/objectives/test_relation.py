"""Relation matrices and their divergence, worked by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch.testing import assert_close

from fedsemi.client.networks import frozen
from fedsemi.data.client import Batch, Client
from fedsemi.messages import RELATION
from fedsemi.models import Classifier
from fedsemi.objectives.labeler import Labeler
from fedsemi.objectives.mean_teacher import MeanTeacher
from fedsemi.objectives.relation import (
    RelatedLabels,
    RelationMatching,
    relation_loss,
    relation_matrix,
)
from fedsemi.objectives.workbench import Setup, Workbench
from fedsemi.seeds import Streams

NOTHING, ALL_FOUR = torch.empty(0, dtype=torch.long), torch.arange(4)


def test_row_is_the_softened_mean_of_a_class_and_uniform_for_an_absent_one() -> None:
    logits = torch.tensor([[0.0, 0.0], [4 * math.log(3), 0.0]])
    matrix = relation_matrix(logits, torch.tensor([0, 0]), 2)
    # mean (2 log 3, 0), halved (log 3, 0): 3 to 1; nobody is of class 1
    assert_close(matrix, torch.tensor([[0.75, 0.25], [0.5, 0.5]]))


def test_loss_is_half_of_both_divergences_over_all_classes() -> None:
    mine = torch.tensor([[0.75, 0.25], [0.5, 0.5]])  # class 1 is absent
    theirs = torch.tensor([[0.25, 0.75], [0.25, 0.75]])
    # first row: (.5 log 3 + .5 log 3) / 2 = log 3 / 2
    # second: (.25 log 2 + .25 log 1.5) / 2 = log 3 / 8; their mean is 5 log 3 / 16
    assert float(relation_loss(mine, theirs)) == pytest.approx(5 * math.log(3) / 16)
    # .3433; without the absent class it would be log 3 / 2 = .5493


def test_an_absent_class_sends_no_gradient() -> None:
    logits = torch.tensor([[1.0, 0.0, 0.0]], requires_grad=True)
    mine = relation_matrix(logits, torch.tensor([0]), 3)
    relation_loss(mine, torch.full((3, 3), 1 / 3)).backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    # d/dp of the row's both divergences, over 3 classes, 2 halves and temperature 2
    p = torch.tensor([math.exp(0.5), 1, 1]) / (math.exp(0.5) + 2)
    slope = (p * 3).log() + (p - 1 / 3) / p
    expected = p * (slope - (p * slope).sum()) / (3 * 2 * 2)
    assert_close(logits.grad[0], expected)


def test_no_samples_give_uniform_rows() -> None:
    empty = relation_matrix(torch.empty(0, 4), NOTHING, 4)
    assert_close(empty, torch.full((4, 4), 0.25))


def _constant(setup: Setup, logits: tuple[float, float, float]) -> Classifier:
    """Make a classifier that says the same of every image."""
    model = setup.model.build(0)
    with torch.no_grad():
        model.head.weight.zero_()
        model.head.bias.copy_(torch.tensor(logits))
    return model


def _client(setup: Setup, labels: list[int], num_unlabeled: int = 0) -> Workbench:
    images = torch.zeros(len(labels) + num_unlabeled, 3, 8, 8, dtype=torch.uint8)
    first, rest = images[: len(labels)], images[len(labels) :]
    client = Client(0, first, torch.tensor(labels, dtype=torch.long), rest)
    return Workbench(client, setup, Streams(1))


def test_sent_matrix_is_the_mean_over_all_batches(tiny_setup: Setup) -> None:
    bench = _client(tiny_setup, [0, 0, 1, 1])
    objective = RelatedLabels(bench, 0.1)
    student = _constant(tiny_setup, (2 * math.log(4), 0.0, 0.0)).train()
    objective(student, Batch(torch.tensor([0, 1]), NOTHING))
    objective(student, Batch(torch.tensor([2, 3]), NOTHING))
    seen = torch.tensor([4 / 6, 1 / 6, 1 / 6])  # softmax(log 4, 0, 0)
    third = torch.full((3,), 1 / 3)
    # Classes 0 and 1 are each absent from one of the two batches, class 2 from both.
    expected = torch.stack([(seen + third) / 2, (seen + third) / 2, third])
    assert_close(objective.statistics()[RELATION], expected.flatten())


def test_labels_are_smoothed_by_a_tenth_and_both_views_add_up(
    tiny_setup: Setup,
) -> None:
    objective = RelatedLabels(_client(tiny_setup, [0, 0]), 0.1)
    student = _constant(tiny_setup, (math.log(2), 0.0, 0.0)).train()
    loss = objective(student, Batch(torch.tensor([0, 1]), NOTHING))
    # Probabilities (1/2, 1/4, 1/4) against (28/30, 1/30, 1/30): the cross entropy is
    # (28/30 + 2/30 · 2) log 2 = 32/30 log 2, once for each view.
    assert loss.item() == pytest.approx(2 * 32 / 30 * math.log(2))


def test_a_lone_label_says_nothing_of_any_class(tiny_setup: Setup) -> None:
    sent = RelatedLabels(_client(tiny_setup, [0]), 0.1).statistics()[RELATION]
    assert_close(sent, torch.full((9,), 1 / 3))


@pytest.mark.parametrize(
    ("student", "expected"),
    [
        # Sure of class 1: its row is softmax(0, log 4, 0) = (1/6, 4/6, 1/6), as theirs.
        ((0.0, 2 * math.log(4), 0.0), 0.0),
        # Less sure than .34: all rows are uniform, and in row 1 the divergences are
        # (1/3) log 2 + (1/3) log 2; half of them, over three classes.
        ((0.0, 1e-5, 0.0), 2 * math.log(2) / 3 / 6),
    ],
)
def test_labels_and_confidence_are_the_students(
    tiny_setup: Setup, student: tuple[float, float, float], expected: float
) -> None:
    bench = _client(tiny_setup, [], num_unlabeled=4)
    teacher = MeanTeacher(bench, Labeler(bench))
    teacher.start_epoch(frozen(_constant(tiny_setup, (9.0, 0.0, 0.0))))
    theirs = torch.full((3, 3), 1 / 3)
    theirs[1] = torch.tensor([1 / 6, 4 / 6, 1 / 6])
    matching = RelationMatching(teacher, theirs, 1.0, 0.34, 2.0)
    loss = matching(_constant(tiny_setup, student).train(), Batch(NOTHING, ALL_FOUR))
    gap = torch.tensor([9.0, 0, 0]).softmax(0) - torch.tensor(student).softmax(0)
    consistency = 4 * float(gap.square().sum()) / tiny_setup.local.batch_size
    assert loss.item() == pytest.approx(consistency + expected)
