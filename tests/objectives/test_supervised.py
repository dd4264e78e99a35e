from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional as F

from fedsemi.data.client import Batch
from fedsemi.objectives.supervised import Supervised, log_prior
from fedsemi.objectives.workbench import Workbench


def test_balanced_softmax_matches_the_golden_values() -> None:
    labels = torch.tensor([0] * 100 + [1] * 10)
    logits = torch.tensor([[1.0, 2.0, 0.5]]) + log_prior(labels, 3)
    losses = [F.cross_entropy(logits, torch.tensor([y])).item() for y in (0, 1)]
    assert losses == pytest.approx([0.2404554, 1.5430405], abs=1e-6)


def test_an_absent_class_gets_a_finite_prior() -> None:
    prior = log_prior(torch.tensor([0, 0]), 2)
    assert prior.tolist() == pytest.approx([0.0, -27.631], abs=1e-3)


def test_a_client_without_labels_has_a_finite_prior() -> None:
    assert torch.isfinite(log_prior(torch.empty(0, dtype=torch.long), 3)).all()


def test_the_loss_is_the_mean_over_both_views(
    make_bench: Callable[..., Workbench],
) -> None:
    bench = make_bench(labeled=6)
    student = bench.setup.model.build(0).eval()
    batch = Batch(torch.arange(6), torch.empty(0).long())

    loss = Supervised(bench)(student, batch)

    fresh = make_bench(labeled=6)
    images, labels = fresh.labeled(batch.labeled)
    weak = F.cross_entropy(student(fresh.weak(images)).logits, labels)
    strong = F.cross_entropy(student(fresh.strong(images)).logits, labels)
    assert loss.item() == pytest.approx((weak + strong).item() / 2, rel=1e-5)


def test_balanced_softmax_changes_the_loss_of_a_skewed_client(
    make_bench: Callable[..., Workbench],
) -> None:
    batch = Batch(torch.arange(5), torch.empty(0).long())
    losses = []
    for loss in ("cross-entropy", "balanced-softmax"):
        bench = make_bench(labeled=5, loss=loss)
        student = bench.setup.model.build(0).eval()
        losses.append(Supervised(bench)(student, batch).item())
    assert losses[0] != losses[1]


@pytest.mark.parametrize("view", ["weak", "clean"])
def test_one_view_alone_is_learned_from_if_so_set(
    view: str, make_bench: Callable[..., Workbench]
) -> None:
    bench, fresh = make_bench(labeled=6), make_bench(labeled=6)
    student = bench.setup.model.build(0).eval()
    batch = Batch(torch.arange(6), torch.empty(0).long())

    loss = Supervised(bench, view)(student, batch)

    images, labels = fresh.labeled(batch.labeled)
    seen = getattr(fresh, view)(images)
    assert loss.item() == F.cross_entropy(student(seen).logits, labels).item()
