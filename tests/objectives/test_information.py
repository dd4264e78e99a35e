"""Information maximization: sure of each sample, spread over the classes."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from fedsemi.data.client import Batch, Client
from fedsemi.models import Classifier, Output
from fedsemi.objectives.base import Objective
from fedsemi.objectives.information import InformationMaximization, PreTrained, entropy
from fedsemi.objectives.workbench import Setup, Workbench
from fedsemi.seeds import Streams

BATCH = Batch(torch.tensor([0]), torch.tensor([0]))
"""The labeled and the unlabeled image of a client that has one of each."""


class Answering(torch.nn.Module):
    """Gives each image of a batch a row of fixed probabilities."""

    def __init__(self, probs: list[list[float]]) -> None:
        super().__init__()
        self._logits = torch.tensor(probs).clamp_min(1e-30).log()

    def forward(self, images: Tensor) -> Output:
        assert len(images) == len(self._logits)
        return Output(images.flatten(1), self._logits)


class Recording(Objective):
    """Writes down what it is asked to do; its loss is a number."""

    def __init__(self, loss: float) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.loss = loss

    def prepare(self) -> None:
        self.calls.append("prepare")

    def start_epoch(self, teacher: Classifier) -> None:
        self.calls.append("start_epoch")

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        self.calls.append("forward")
        return torch.tensor(self.loss)

    def after_step(self, student: Classifier) -> None:
        self.calls.append("after_step")

    def metrics(self) -> dict[str, float]:
        return {"loss": self.loss}


def test_entropy_of_even_and_certain_predictions() -> None:
    probs = torch.tensor([[0.25, 0.25, 0.25, 0.25], [1.0, 0.0, 0.0, 0.0]])
    assert entropy(probs).tolist() == pytest.approx([math.log(4), 0.0])


@pytest.mark.parametrize(
    ("probs", "loss"),
    [
        ([[1.0, 0.0], [0.0, 1.0]], -math.log(2)),  # sure and spread: the best
        ([[1.0, 0.0], [1.0, 0.0]], 0.0),  # sure, but of one class
        ([[0.5, 0.5], [0.5, 0.5]], 0.0),  # spread, but unsure
    ],
)
def test_sure_and_spread_predictions_are_best(
    probs: list[list[float]],
    loss: float,
    tiny_setup: Setup,
    make_client: Callable[..., Client],
) -> None:
    bench = Workbench(make_client(0, 1, 1), tiny_setup, Streams(1))
    student = Answering(probs)
    for weight in (1.0, 0.5):
        objective = InformationMaximization(bench, weight)
        assert float(objective(student, BATCH)) == pytest.approx(
            weight * loss, abs=1e-6
        )


def test_the_first_objective_has_its_epochs_and_then_the_second_takes_over(
    tiny_setup: Setup,
) -> None:
    first, then = Recording(1.0), Recording(2.0)
    both, student = PreTrained(first, 2, then), tiny_setup.model.build(0)
    both.prepare()
    losses = []
    for _ in range(4):
        both.start_epoch(student)
        losses.append(float(both(student, BATCH)))
        both.after_step(student)
    assert losses == [1.0, 1.0, 2.0, 2.0]
    epoch = ["start_epoch", "forward", "after_step"]
    assert first.calls == then.calls == ["prepare", *epoch, *epoch]
    assert both.metrics() == {"loss": 2.0}
