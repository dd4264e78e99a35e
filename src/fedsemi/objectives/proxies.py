"""Rows of the head as proxies of the classes, for images whose class is undecided.

Chen and Wang, ProxyFL: A Proxy-Guided Framework for Federated Semi-Supervised Learning,
CVPR 2026.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from fedsemi.data.client import Batch
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective
from fedsemi.objectives.labeler import Labeler
from fedsemi.objectives.workbench import Workbench


def attraction(
    feature: Tensor, rows: Tensor, probs: Tensor, temperature: float
) -> Tensor:
    """Return how far features are from the rows that their probabilities name, [B].

    InfoNCE over the cosines to all rows, with each class a positive as far as it is
    probable: −Σ_c p_c log softmax_c(cos(z, w) / T).

    Args:
        feature: Of strong views, [B, d].
        rows: Of the head, [C, d].
        probs: Of the weak views, [B, C].
        temperature: Of the cosines.
    """
    cosine = F.normalize(feature, dim=1) @ F.normalize(rows, dim=1).T
    return -(probs * (cosine / temperature).log_softmax(1)).sum(1)


def tuned_rows(mean: Tensor, rows: Tensor, steps: int, lr: float) -> Tensor:
    """Tune the rows [C, d] of a head until it tells the clients' rows apart.

    Args:
        mean: The averaged head, [C, d].
        rows: Those of the clients, [K, C, d]; row c of each has the label c.
        steps: Of gradient descent on the cross entropy of all of them.
        lr: Of these steps.
    """
    samples = rows.flatten(0, 1)
    labels = torch.arange(rows.shape[1]).repeat(len(rows))
    tuned = mean.clone()
    for _ in range(steps):
        probs = (samples @ tuned.T).softmax(1)
        error = probs - F.one_hot(labels, len(mean))
        tuned = tuned - lr * error.T @ samples / len(samples)
    return tuned


class UndecidedProxies(Objective):
    """Pseudo-labels for sure images; the others are drawn to their likely rows."""

    def __init__(
        self, bench: Workbench, cutoff: float, weight: float, temperature: float
    ) -> None:
        super().__init__()
        self._bench = bench
        self.labeler = Labeler(bench, cutoff)
        self.weight = weight
        self.temperature = temperature

    def start_epoch(self, teacher: Classifier) -> None:
        """Forget the labels of the last epoch."""
        self.labeler.forget()

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the loss of the unlabeled part."""
        index = batch.unlabeled
        probs = self.labeler(student.eval(), index).clone()
        student.train()
        self.num_pseudo = self.labeler.num_pseudo
        images = self._bench.unlabeled_for_views(index)
        self._bench.show_weak(student, images)
        feature, logits = student(self._bench.strong(images))
        confidence, label = probs.max(1)
        sure = confidence >= self.labeler.cutoff
        losses = F.cross_entropy(logits, label, reduction="none")
        # Proxies stand still here: what is drawn is the image.
        rows = student.head.weight.detach()
        drawn = attraction(feature, rows, probs, self.temperature)
        return torch.where(sure, losses, self.weight * drawn).mean()

    def metrics(self) -> dict[str, float]:
        """Log how confident the student was."""
        return self.labeler.metrics()
