"""Learning without any label: be sure of each sample, and spread over the classes."""

from __future__ import annotations

import torch
from torch import Tensor

from fedsemi.data.client import Batch
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective
from fedsemi.objectives.workbench import Workbench


class InformationMaximization(Objective):
    """Mean entropy of the predictions minus the entropy of their mean."""

    def __init__(self, bench: Workbench, weight: float = 1.0) -> None:
        super().__init__()
        self._bench = bench
        self.weight = weight

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the loss over all images of the batch, labels unseen."""
        images = torch.cat(
            [
                self._bench.labeled(batch.labeled)[0],
                self._bench.unlabeled(batch.unlabeled),
            ]
        )
        probs = student(self._bench.weak(images)).logits.softmax(1)
        return self.weight * (entropy(probs).mean() - entropy(probs.mean(0)))


class PreTrained(Objective):
    """One objective for the first epochs of a round, another one for the rest."""

    def __init__(self, first: Objective, epochs: int, then: Objective) -> None:
        super().__init__()
        self.first = first
        self.then = then
        self._left = epochs + 1

    def prepare(self) -> None:
        """Prepare both."""
        self.first.prepare()
        self.then.prepare()

    def start_epoch(self, teacher: Classifier) -> None:
        """Count the epoch, and let the one in charge look at the data."""
        self._left -= 1
        self._now.start_epoch(teacher)

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the loss of the one in charge."""
        loss: Tensor = self._now(student, batch)
        return loss

    def after_step(self, student: Classifier) -> None:
        """Let the one in charge follow the student."""
        self._now.after_step(student)
        self.num_pseudo = self.then.num_pseudo

    def statistics(self) -> dict[str, Tensor]:
        """Report what the second has to say."""
        return self.then.statistics()

    def metrics(self) -> dict[str, float]:
        """Log what the second has to say."""
        return self.then.metrics()

    @property
    def _now(self) -> Objective:
        return self.first if self._left > 0 else self.then


def entropy(probs: Tensor) -> Tensor:
    """Return the entropy over the last dimension, in nats."""
    return -(probs * probs.clamp_min(1e-12).log()).sum(-1)
