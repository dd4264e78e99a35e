"""FedMatch's loss: labels move σ alone, unlabeled images ψ alone."""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch

from fedsemi.data.client import Batch
from fedsemi.messages import PSEUDO_LABEL
from fedsemi.models.classifier import Output
from fedsemi.objectives.base import Objective
from fedsemi.objectives.disjoint import Disjoint, Weighing, regularized, votes
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.two_parts import pairs_of, psi_of

NOTHING = torch.empty(0, dtype=torch.long)
PLAIN = Weighing(labels=1.0, agreement=1.0, consistency=1.0, nearness=0.0, sparsity=0.0)


def student_of(bench):
    parts = partial(psi_of, 0.25)
    weights = bench.setup.model.build(0).state_dict()
    return bench.setup.load(
        {**weights, **bench.setup.first_parts(weights, parts)}, parts
    ).train()


def moved(student, loss):
    """Name the parts that a loss has a gradient of."""
    loss.backward()
    return {
        part
        for pair in pairs_of(student).values()
        for part, value in zip(("sigma", "psi"), pair, strict=True)
        if value.grad is not None and value.grad.any()
    }


@pytest.mark.parametrize(
    ("batch", "part"),
    [
        (Batch(torch.arange(4), NOTHING), {"sigma"}),
        (Batch(NOTHING, torch.arange(6)), {"psi"}),
        (Batch(torch.arange(4), torch.arange(6)), {"sigma", "psi"}),
    ],
)
def test_each_kind_of_image_teaches_its_own_part(make_bench, batch, part):
    bench = make_bench(labeled=4, unlabeled=6)
    student = student_of(bench)
    weighing = PLAIN._replace(nearness=1.0, sparsity=1.0)
    objective = Disjoint(bench, Supervised(bench), [], 0.0, weighing)
    assert moved(student, objective(student, batch)) == part


def test_both_parts_have_the_gradient_of_the_whole_weight(make_bench):
    bench = make_bench(labeled=4)
    student = student_of(bench)
    weights = {n: sigma + psi for n, (sigma, psi) in pairs_of(student).items()}
    whole = bench.setup.model.build(0)
    whole.load_state_dict({**whole.state_dict(), **weights})
    batch = Batch(torch.arange(4), NOTHING)
    Supervised(bench, "clean")(whole.train(), batch).backward()
    objective = Disjoint(bench, Supervised(bench, "clean"), [], 0.0, PLAIN)
    objective(student, batch).backward()
    torch.testing.assert_close(student.head.weight.grad, whole.head.weight.grad)


def test_most_votes_decide_and_a_tie_is_the_first_class():
    def sure(label: int) -> torch.Tensor:
        return torch.eye(3)[[label]]

    assert votes([sure(2), sure(1), sure(1)]).tolist() == [1]
    assert votes([sure(2), sure(1), sure(0)]).tolist() == [0]
    assert votes([sure(2)]).tolist() == [2]


def test_psi_is_drawn_to_sigma_and_to_zero():
    sigma = torch.tensor([1.0, 2.0], requires_grad=True)
    psi = torch.tensor([0.5, -1.0], requires_grad=True)
    weighing = Weighing(0, 0, 0, nearness=2.0, sparsity=0.1)
    loss = regularized([(sigma, psi)], weighing)
    # 2 (0.25 + 9) + 0.1 · 1.5.
    assert float(loss.detach()) == pytest.approx(18.65)
    loss.backward()
    # 2 · 2 (ψ − σ) + 0.1 sign ψ; σ stands still.
    assert psi.grad.tolist() == pytest.approx([-2.0 + 0.1, -12.0 - 0.1])
    assert sigma.grad is None


class Says(torch.nn.Module):
    """A model that says the same of every image."""

    def __init__(self, *probs: float) -> None:
        super().__init__()
        self.logits = torch.tensor(probs).log()

    def forward(self, images):
        return Output(images, self.logits.expand(len(images), -1))


class Constant(Says):
    """Stands for a student: it knows ψ, and says the same of every image."""

    def __init__(self, *probs: float) -> None:
        super().__init__(*probs)
        self.logits = torch.nn.Parameter(self.logits / 2)
        self.psi = torch.nn.Module()
        self.psi.logits = torch.nn.Parameter(self.logits.detach().clone())


class No(Objective):
    def forward(self, student, batch):
        return torch.zeros(())


def loss_of(make_bench, helpers, cutoff, weighing=PLAIN):
    bench = make_bench(unlabeled=2)
    objective = Disjoint(bench, No(), helpers, cutoff, weighing)
    objective.start_epoch(Says(1.0))
    student = Constant(0.1, 0.6, 0.2, 0.1)
    loss = objective(student, Batch(NOTHING, torch.arange(2)))
    return float(loss.detach()), objective


def test_the_loss_of_votes_and_helpers_worked_by_hand(make_bench):
    alone, objective = loss_of(make_bench, [], 0.5)
    assert alone == pytest.approx(-math.log(0.6))
    assert objective.num_pseudo == 2
    assert objective.state_dict()[PSEUDO_LABEL].tolist() == [1, 1]
    # Two helpers outvote the client; they say (¼, ¼, ¼, ¼) less or more of class 2.
    helper = Says(0.125, 0.125, 0.5, 0.25)
    found, objective = loss_of(make_bench, [helper, helper], 0.5)
    own, theirs = (0.1, 0.6, 0.2, 0.1), (0.125, 0.125, 0.5, 0.25)
    gap = sum(p * math.log(p / q) for p, q in zip(theirs, own, strict=True))
    assert found == pytest.approx(-math.log(0.2) + gap, rel=1e-5)
    assert objective.state_dict()[PSEUDO_LABEL].tolist() == [2, 2]
    weighing = PLAIN._replace(agreement=0.5, consistency=0.01)
    found, _ = loss_of(make_bench, [helper, helper], 0.5, weighing)
    assert found == pytest.approx(-0.5 * math.log(0.2) + 0.01 * gap, rel=1e-5)


def test_an_unsure_sample_has_no_loss_but_psi_is_still_held(make_bench):
    none, objective = loss_of(make_bench, [], 0.7)
    assert none == 0 and objective.num_pseudo == 0
    held, _ = loss_of(make_bench, [], 0.7, PLAIN._replace(sparsity=1.0))
    expected = sum(-math.log(p) / 2 for p in (0.1, 0.6, 0.2, 0.1))
    assert held == pytest.approx(expected, rel=1e-5)
