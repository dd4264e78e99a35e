"""Thresholds that follow a client, and predictions that stay when weights are moved.

Lee, Le, Shin, Lee, (FL)²: Overcoming Few Labels in Federated Semi-Supervised Learning,
NeurIPS 2024; the perturbation after Kwon et al., ASAM, ICML 2021.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.func import functional_call
from torch.nn import functional as F

from fedsemi.data.client import Batch
from fedsemi.messages import CONFIDENCE
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective
from fedsemi.objectives.discrepancy import divergence
from fedsemi.objectives.labeler import Labeler
from fedsemi.objectives.workbench import Workbench


def client_thresholds(probs: Tensor) -> Tensor:
    """Return a client's threshold of each class, [C], for probabilities [N, C].

    τ_c = mean(max p) · p̄_c / max p̄.

    >>> client_thresholds(torch.tensor([[0.75, 0.25], [0.25, 0.75]])).tolist()
    [0.75, 0.75]
    """
    mean = probs.mean(0)
    return probs.amax(1).mean() * mean / mean.amax()


def sharpest(
    parameters: Sequence[Tensor], gradients: Sequence[Tensor | None], radius: float
) -> list[Tensor]:
    """Return the step that raises a loss most, measured in the scale of the weights.

    ε = ρ |w|² g / ‖ |w| g ‖, entry by entry; zero where there is no gradient.
    """
    given = [
        torch.zeros_like(p) if g is None else g
        for p, g in zip(parameters, gradients, strict=True)
    ]
    scaled = [p.detach().abs() * g for p, g in zip(parameters, given, strict=True)]
    norm = torch.sqrt(sum((s.square().sum() for s in scaled), torch.zeros(())))
    factor = radius / norm.clamp_min(1e-12)
    pairs = zip(parameters, scaled, strict=True)
    return [factor * p.detach().abs() * s for p, s in pairs]


class SharpnessAware(Objective):
    """Labels above a client's own thresholds, and steady predictions of sure ones."""

    def __init__(
        self, bench: Workbench, cutoff: float, radius: float, steady_weight: float
    ) -> None:
        super().__init__()
        self._bench = bench
        self.labeler = Labeler(bench, cutoff)
        self.radius = radius
        self.steady_weight = steady_weight
        self._confidence = torch.empty(0)
        self._fresh = True

    def start_epoch(self, teacher: Classifier) -> None:
        """Label the client with the global model, in the first epoch of a round."""
        if not self._fresh or not self._bench.client.num_unlabeled:
            return
        self._fresh = False
        self.labeler.forget()
        probs = self.labeler.everything(teacher)
        self._confidence, label = probs.max(1)
        kept = self._confidence >= client_thresholds(probs)[label]
        self.labeler.pseudo_label.copy_(torch.where(kept, label, -1))
        self.num_pseudo = self.labeler.num_pseudo

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the loss of labels, and of what moves with the weights."""
        index = batch.unlabeled.to(self._confidence.device)
        label = self.labeler.pseudo_label[index].long()
        view = self._bench.strong(self._bench.unlabeled_for_views(batch.unlabeled))
        logits: Tensor = student(view).logits
        losses = F.cross_entropy(logits, label.clamp_min(0), reduction="none")
        loss = (losses * (label >= 0)).mean()
        sure = (self._confidence[index] >= self.labeler.cutoff) & (label >= 0)
        if not sure.any() or not self.steady_weight:
            return loss
        moved = self._moved(student, view, losses[sure].mean())[sure]
        plain = logits[sure].detach().softmax(1)
        return loss + self.steady_weight * divergence(plain, moved).mean()

    def _moved(self, student: Classifier, view: Tensor, loss: Tensor) -> Tensor:
        """Return the logits where this loss is sharpest, near the student.

        The step is a constant there, so that gradients reach the student itself. Batch
        norm counts into copies: this pass is no second look at the images.
        """
        named = dict(student.named_parameters())
        parameters = list(named.values())
        gradients = torch.autograd.grad(
            loss, parameters, retain_graph=True, allow_unused=True
        )
        steps = sharpest(parameters, gradients, self.radius)
        near = {k: p + s for (k, p), s in zip(named.items(), steps, strict=True)}
        copies = {name: value.clone() for name, value in student.named_buffers()}
        logits: Tensor = functional_call(student, near | copies, (view,)).logits
        return logits

    def statistics(self) -> dict[str, Tensor]:
        """Tell the mean confidence; a client without such images has none."""
        if not len(self._confidence):
            return {}
        return {CONFIDENCE: self._confidence.mean()[None].clone()}

    def metrics(self) -> dict[str, float]:
        """Log how confident the global model was."""
        return self.labeler.metrics()
