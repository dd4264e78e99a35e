"""Which batches the student's batch norm sees, worked by hand.

Two images of one pixel; their weak views are 0 and 2, their strong views 4 and 8.
Running mean and variance start at 0 and 1 and move by a tenth of the way:

- weak alone has mean 1 and variance 2, strong alone mean 6 and variance 8;
- all four together have mean 3.5 and variance 35 / 3.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn

from fedsemi.data.augment import Views
from fedsemi.data.client import Batch, Client
from fedsemi.models import Classifier
from fedsemi.objectives.acr import TwoHeadPseudoLabel
from fedsemi.objectives.base import Objective
from fedsemi.objectives.labeler import Labeler
from fedsemi.objectives.pseudo_label import PseudoLabel
from fedsemi.objectives.relation import RelatedLabels
from fedsemi.objectives.selection import Fixed
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.two_heads import STANDARD, TwoHeadSupervised
from fedsemi.objectives.workbench import LocalTraining, Setup, Workbench
from fedsemi.seeds import Streams

_IMAGES = torch.tensor([0, 2], dtype=torch.uint8).view(2, 1, 1, 1)
_LABELS = torch.tensor([0, 1])
_SEPARATE = (0.9 * 0.1 + 0.6, 0.9 * (0.9 + 0.2) + 0.8)  # weak, then strong


class _Shown:
    """Views that are known: the image itself, and twice its value plus four."""

    def resized(self, images: Tensor) -> Tensor:
        return images

    def weak(self, images: Tensor, _: torch.Generator) -> Tensor:
        return images.float()

    def strong(self, images: Tensor, _: torch.Generator) -> Tensor:
        return images.float() * 2 + 4


def _bench(setup: Setup, passes: Any, labeled: bool) -> Workbench:
    images, nothing = _IMAGES, _IMAGES[:0]
    client = (
        Client(0, images, _LABELS, nothing)
        if labeled
        else Client(0, nothing, _LABELS[:0], images)
    )
    local = LocalTraining(student_passes=passes)
    model = replace(setup.model, num_classes=2)
    views = cast(Views, _Shown())
    shown = replace(setup, model=model, views=views, local=local)
    return Workbench(client, shown, Streams(1))


def _student() -> Classifier:
    norm = nn.BatchNorm2d(1, eps=1e-12)
    head = nn.Linear(1, 2, bias=False)
    with torch.no_grad():
        head.weight.copy_(torch.tensor([[1.0], [0.0]]))
    student = Classifier(nn.Sequential(norm, nn.Flatten()), head)
    student.add_module(STANDARD, nn.Linear(1, 2, bias=False))
    return student.train()


def _seen(student: Classifier) -> tuple[float, float]:
    norm = cast(nn.BatchNorm2d, student.get_submodule("encoder.0"))
    assert norm.running_mean is not None and norm.running_var is not None
    return float(norm.running_mean), float(norm.running_var)


def _learn(objective: Objective, labeled: bool) -> tuple[Classifier, Tensor]:
    student, two, none = _student(), torch.arange(2), torch.arange(0)
    objective.start_epoch(_student().eval())
    loss = objective(student, Batch(two, none) if labeled else Batch(none, two))
    return student, loss


@pytest.mark.parametrize(
    ("passes", "seen"),
    [("joined", (0.35, 0.9 + 3.5 / 3)), ("separate", _SEPARATE)],
)
@pytest.mark.parametrize("objective", [Supervised, TwoHeadSupervised])
def test_labeled_views_pass_as_one_batch_or_one_after_the_other(
    setup: Setup, objective: Any, passes: str, seen: tuple[float, float]
) -> None:
    bench = _bench(setup, passes, labeled=True)
    student, _ = _learn(objective(bench), labeled=True)
    assert _seen(student) == pytest.approx(seen)


@pytest.mark.parametrize(
    ("passes", "seen"), [("joined", (0.6, 0.9 + 0.8)), ("separate", _SEPARATE)]
)
def test_weak_unlabeled_views_pass_first_or_not_at_all(
    setup: Setup, passes: str, seen: tuple[float, float]
) -> None:
    bench = _bench(setup, passes, labeled=False)
    objective = PseudoLabel(bench, Fixed(0.0), Labeler(bench), teacher="local")
    student, _ = _learn(objective, labeled=False)
    assert _seen(student) == pytest.approx(seen)


def test_two_strong_views_pass_after_the_weak_one(setup: Setup) -> None:
    bench = _bench(setup, "separate", labeled=False)
    settings: Any = {"cutoff": 0.0, "ema": 0.9, "adapt_after": 5}
    student, _ = _learn(TwoHeadPseudoLabel(bench, **settings), labeled=False)
    mean, variance = _SEPARATE
    assert _seen(student) == pytest.approx((0.9 * mean + 0.6, 0.9 * variance + 0.8))


def test_two_weak_views_of_labels_pass_one_after_the_other(setup: Setup) -> None:
    bench = _bench(setup, "separate", labeled=True)
    student, _ = _learn(RelatedLabels(bench, 0.0), labeled=True)
    assert _seen(student) == pytest.approx((0.1 + 0.09, 0.9 * 1.1 + 0.2))


def test_each_view_is_normalized_by_its_own_batch(setup: Setup) -> None:
    bench = _bench(setup, "separate", labeled=True)
    _, loss = _learn(Supervised(bench), labeled=True)
    # Two values are always normalized to -1 and 1; the logits are (-1, 0) and (1, 0),
    # the labels 0 and 1: both views of both images have the loss log(1 + e).
    assert loss.item() == pytest.approx(math.log(1 + math.e))


def test_the_weak_pass_of_unlabeled_images_leaves_loss_and_gradient_alone(
    setup: Setup,
) -> None:
    gradients, losses = [], []
    for passes in ("joined", "separate"):
        bench = _bench(setup, passes, labeled=False)
        objective = PseudoLabel(bench, Fixed(0.0), Labeler(bench), teacher="local")
        student, loss = _learn(objective, labeled=False)
        loss.backward()  # type: ignore[no-untyped-call]
        gradients.append([p.grad for p in student.parameters() if p.grad is not None])
        losses.append(loss.item())
    assert losses[0] == losses[1]
    assert len(gradients[0]) == 3  # batch norm's scale and shift, and the head
    assert all(map(torch.equal, *gradients))
