"""The head that looks on: labels teach it and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from fedsemi.data.client import Client
from fedsemi.models import Classifier
from fedsemi.objectives.online_head import OnlineHead, pooled
from fedsemi.objectives.workbench import Setup


@pytest.fixture
def student(setup: Setup) -> Classifier:
    """A network whose head says class 2 of four, whatever it sees."""
    student = setup.model.build(0)
    with torch.no_grad():
        student.head.weight.zero_()
        student.head.bias.copy_(torch.tensor([0.0, 0.0, 5.0, 0.0]))
    return student


def feature(student: Classifier, count: int) -> torch.Tensor:
    return torch.ones(count, student.head.in_features, requires_grad=True)


def test_a_pooled_client_has_all_images_and_no_label(
    make_client: Callable[..., Client],
) -> None:
    client = make_client(3, labeled=2, unlabeled=5)
    every = pooled(client)
    assert (every.id, every.num_labeled, every.num_unlabeled) == (3, 0, 7)
    assert torch.equal(every.unlabeled_images[:2], client.labeled_images)


def test_the_loss_is_that_of_labeled_samples_over_all_views(
    student: Classifier,
) -> None:
    head = OnlineHead(torch.tensor([2, 0]))
    view = feature(student, 3)
    loss = head(student, [view, view], torch.tensor([0, 1, 5]))
    # Samples 0 (right) and 1 (wrong) have labels, 5 has none: -5 + z and z on average,
    # z being log(3 + e^5).
    z = math.log(3 + math.exp(5))
    assert loss.item() == pytest.approx(z - 2.5, rel=1e-5)
    assert head.metrics() == {"online_accuracy": 0.5}


def test_no_gradient_reaches_the_features(student: Classifier) -> None:
    view = feature(student, 1)
    OnlineHead(torch.tensor([0]))(student, [view], torch.tensor([0])).backward()
    assert view.grad is None
    assert student.head.bias.grad is not None


def test_a_batch_without_labels_teaches_nothing_and_logs_nothing(
    student: Classifier,
) -> None:
    head = OnlineHead(torch.tensor([1]))
    assert head(student, [feature(student, 2)], torch.tensor([1, 2])).item() == 0
    assert head.metrics() == {}
