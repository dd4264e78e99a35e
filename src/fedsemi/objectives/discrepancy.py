"""Pseudo-labels of the local and the global model, joined by how far they differ.

Liu et al., Mind the Gap: Confidence Discrepancy Can Guide Federated Semi-Supervised
Learning Across Pseudo-Mismatch, CVPR 2025 (SAGE).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from fedsemi.data.client import Batch
from fedsemi.messages import PSEUDO_LABEL
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective
from fedsemi.objectives.workbench import Workbench

_LEAST_LABELED = 2
"""Batch norm cannot train on one."""


def corrected(
    local: Tensor, overall: Tensor, cutoff: float, half_at: float
) -> tuple[Tensor, Tensor]:
    """Return the targets [B, C] of samples and which of them count, [B].

    Args:
        local: Probabilities by the local model, [B, C].
        overall: Those by the global model, [B, C].
        cutoff: A sample counts if one of the models is as confident.
        half_at: Gap of confidences at which both labels weigh alike.
    """
    mine, label = local.max(1)
    theirs, other = overall.max(1)
    trust = torch.exp(-math.log(2) / half_at * (mine - theirs).abs())
    trust = torch.where(mine >= cutoff, trust, torch.zeros_like(trust))[:, None]
    classes = local.shape[1]
    target = trust * F.one_hot(label, classes) + (1 - trust) * F.one_hot(other, classes)
    return target, (mine >= cutoff) | (theirs >= cutoff)


def divergence(target: Tensor, logits: Tensor) -> Tensor:
    """Return KL(target ‖ softmax of the logits) of each sample, [B]."""
    log_probs = logits.log_softmax(1)
    gaps: Tensor = torch.special.xlogy(target, target) - target * log_probs
    return gaps.sum(1)


class CorrectedPseudoLabel(Objective):
    """KL of the strong view to labels that both models make of the weak view."""

    pseudo_label: Tensor

    def __init__(self, bench: Workbench, cutoff: float, half_at: float) -> None:
        super().__init__()
        self._bench = bench
        self.cutoff = cutoff
        self.half_at = half_at
        nothing = torch.full((bench.client.num_unlabeled,), -1, dtype=torch.int16)
        self.register_buffer(PSEUDO_LABEL, nothing)
        self._teacher: list[Classifier] = []  # a list hides it from the state dict
        self._counted, self._seen = 0, 0

    def start_epoch(self, teacher: Classifier) -> None:
        """Keep the frozen global model at hand; labels are those of this epoch."""
        self._teacher = [teacher]
        self.pseudo_label.fill_(-1)

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the loss of the unlabeled part, zero for samples that do not count."""
        images = self._bench.unlabeled_for_views(batch.unlabeled)
        weak, strong = self._bench.weak(images), self._bench.strong(images)
        seen, logits = self._bench.show(student, [weak, strong]).logits.chunk(2)
        with torch.no_grad():
            overall = self._teacher[0](weak).logits.softmax(1)
        local = seen.detach().softmax(1)
        target, counts = corrected(local, overall, self.cutoff, self.half_at)
        place = batch.unlabeled.to(counts.device)[counts]
        self.pseudo_label[place] = target.argmax(1)[counts].to(torch.int16)
        self.num_pseudo = int((self.pseudo_label >= 0).sum())
        self._counted += int(counts.sum())
        self._seen += len(counts)
        return (divergence(target, logits) * counts).mean()

    def metrics(self) -> dict[str, float]:
        """Log which part of the samples entered the loss."""
        return {"admitted": self._counted / max(self._seen, 1)}


class FewerLabels(Objective):
    """Another objective, shown only a part of the labels of a step."""

    def __init__(self, inner: Objective, ratio: int) -> None:
        super().__init__()
        self.inner = inner
        self.ratio = ratio

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the loss of so many labels for each unlabeled image."""
        labeled = batch.labeled
        if len(batch.unlabeled):
            labeled = labeled[: max(-(-len(labeled) // self.ratio), _LEAST_LABELED)]
        loss: Tensor = self.inner(student, Batch(labeled, batch.unlabeled))
        return loss
