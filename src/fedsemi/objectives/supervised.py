"""Learning from labels.

Balanced softmax: Ren et al., Balanced Meta-Softmax for Long-Tailed Visual Recognition,
NeurIPS 2020.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from fedsemi.data.client import Batch
from fedsemi.models import Classifier
from fedsemi.objectives.base import LabelView, Objective
from fedsemi.objectives.workbench import Workbench


class Supervised(Objective):
    """The mean loss of the weak and the strong view, or of one view alone."""

    def __init__(self, bench: Workbench, views: LabelView = "strong") -> None:
        super().__init__()
        self._bench = bench
        self.views = views
        self._log_prior = (
            0.0
            if bench.setup.local.loss == "cross-entropy"
            else (
                log_prior(bench.client.labels, bench.num_classes).to(bench.setup.device)
            )
        )

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the loss of the labeled part."""
        views, labels = self._seen(batch.labeled)
        logits = self.logits(student, views)
        return F.cross_entropy(logits + self._log_prior, labels.repeat(len(views)))

    def logits(self, student: Classifier, views: Sequence[Tensor]) -> Tensor:
        """Return what the student says of the views."""
        return self._bench.show(student, views).logits

    def _seen(self, index: Tensor) -> tuple[list[Tensor], Tensor]:
        """Return the views to learn from, and the labels of each."""
        if self.views == "clean":
            images, labels = self._bench.labeled(index)
            return [self._bench.clean(images)], labels
        images, labels = self._bench.labeled_for_views(index)
        views = [self._bench.weak(images)]
        if self.views == "strong":
            views.append(self._bench.strong(images))
        return views, labels


class HeadOnly(Supervised):
    """The same loss with the encoder frozen, its batch norm as at test time."""

    def logits(self, student: Classifier, views: Sequence[Tensor]) -> Tensor:
        """Return what the head says of features that get no gradient."""
        student.encoder.eval()
        with torch.no_grad():
            feature = student.features(torch.cat(list(views)))
        logits: Tensor = student.head(feature)
        return logits


def log_prior(labels: Tensor, num_classes: int) -> Tensor:
    """Return the log frequency of each class; an absent class gets log 1e-12.

    Added to the logits it gives balanced softmax, without minus infinity where a
    client has no sample of a class.
    """
    count = labels.bincount(minlength=num_classes).double()
    return (count / count.sum().clamp_min(1) + 1e-12).log().float()
