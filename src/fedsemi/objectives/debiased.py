"""Pseudo-labels without the bias that a client's own classes give its predictions.

Zhu et al., Estimating before Debiasing, IJCAI 2024 (FedDB).
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from fedsemi.data.client import Batch
from fedsemi.messages import MEAN_PREDICTION
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective
from fedsemi.objectives.labeler import Labeler
from fedsemi.objectives.workbench import Workbench

_LEAST = 1e-8


def debiased(probs: Tensor, mean: Tensor) -> Tensor:
    """Divide probabilities [B, C] by their prior [C], and renormalize them.

    >>> probs, mean = torch.tensor([[0.6, 0.4]]), torch.tensor([0.9, 0.1])
    >>> debiased(probs, mean).round(decimals=3).tolist()  # 2/3 against 4
    [[0.14300000667572021, 0.8569999933242798]]
    """
    ratio = probs / mean.clamp_min(_LEAST)
    return ratio / ratio.sum(1, keepdim=True)


class DebiasedPseudoLabel(Objective):
    """Cross entropy of strong views with labels that the global model gives once.

    The mean prediction of the client, over its weak views, is the prior that its
    labels are freed of; it then follows the student, batch by batch, and is told.
    """

    mean_probs: Tensor

    def __init__(self, bench: Workbench, cutoff: float, keep: float) -> None:
        super().__init__()
        self._bench = bench
        self.labeler = Labeler(bench, cutoff)
        self.keep = keep
        even = torch.full((bench.num_classes,), 1 / bench.num_classes)
        self.register_buffer("mean_probs", even, persistent=False)
        self._fresh = True

    def start_epoch(self, teacher: Classifier) -> None:
        """Label the client, in the first epoch of a round."""
        if not self._fresh or not self._bench.client.num_unlabeled:
            return
        self._fresh = False
        self.labeler.forget()
        probs = self.labeler.everything(teacher)
        self.mean_probs.copy_(probs.mean(0))
        confidence, label = debiased(probs, self.mean_probs).max(1)
        kept = torch.where(confidence >= self.labeler.cutoff, label, -1)
        self.labeler.pseudo_label.copy_(kept)
        self.num_pseudo = self.labeler.num_pseudo

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the mean loss of those with a label."""
        index = batch.unlabeled
        label = self.labeler.pseudo_label[index.to(self.mean_probs.device)].long()
        logits: Tensor = student(
            self._bench.strong(self._bench.unlabeled_for_views(index))
        ).logits
        told = logits.detach().softmax(1).mean(0)
        self.mean_probs.lerp_(told, 1 - self.keep)
        sure = label >= 0
        losses = F.cross_entropy(logits, label.clamp_min(0), reduction="none")
        return (losses * sure).sum() / sure.sum().clamp_min(1)

    def statistics(self) -> dict[str, Tensor]:
        """Tell the mean prediction; a client without such images has none."""
        if not self._bench.client.num_unlabeled:
            return {}
        return {MEAN_PREDICTION: self.mean_probs.clone()}

    def metrics(self) -> dict[str, float]:
        """Log how confident the teacher was."""
        return self.labeler.metrics()
