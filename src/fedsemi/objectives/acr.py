"""ACR: two heads, and logits adjusted by the distance of the classes from a prior.

Wei, Gan: Towards Realistic Long-Tailed Semi-Supervised Learning: Consistency Is All You
Need, CVPR 2023.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from fedsemi.data.client import Batch
from fedsemi.messages import PSEUDO_LABEL
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective
from fedsemi.objectives.labeler import Probe
from fedsemi.objectives.two_heads import STRENGTH, both_heads, smoothed
from fedsemi.objectives.workbench import Workbench

_CHUNK = 256


def distances(share: Tensor, prior: Tensor) -> Tensor:
    """Return D: symmetric KL of the share to the prior, to even, to the prior reversed.

    Reversed means by rank: the most frequent class gets the smallest probability.
    """
    order = prior.argsort(descending=True)
    reversed_prior = torch.empty_like(prior)
    reversed_prior[order] = prior[order.flip(0)]
    even = torch.full_like(prior, 1 / len(prior))
    anchors = torch.stack([prior, even, reversed_prior]).clamp_min(1e-12)
    share = share.clamp_min(1e-12)
    return ((share - anchors) * (share / anchors).log()).sum(1) / 2  # [3]


def adjustment(distance: Tensor) -> float:
    """Return tau: small where the unlabeled classes follow the prior."""
    return STRENGTH * float(distance.softmax(0)[0])


class TwoHeadPseudoLabel(Objective):
    """Both heads learn from the global model's labels, each with its own adjustment."""

    pseudo_label: Tensor
    class_share: Tensor
    frequency: Tensor
    distance: Tensor
    epochs: Tensor

    def __init__(
        self,
        bench: Workbench,
        *,
        cutoff: float,
        ema: float,
        adapt_after: int,
        prior: Tensor | None = None,
        probe: Probe | None = None,
    ) -> None:
        super().__init__()
        self._bench = bench
        self.cutoff, self.ema, self.adapt_after = cutoff, ema, adapt_after
        self._given_prior = prior
        self.probe = probe
        self.tau = STRENGTH
        even = torch.full((bench.num_classes,), 1 / bench.num_classes)
        nothing = torch.full((bench.client.num_unlabeled,), -1, dtype=torch.int16)
        self.register_buffer(PSEUDO_LABEL, nothing)
        self.register_buffer("class_share", even)
        self.register_buffer("frequency", even.clone())
        self.register_buffer("distance", torch.zeros(3))
        self.register_buffer("epochs", torch.tensor(0))
        self._labels = torch.empty(2, 0, dtype=torch.long)
        self._weights = torch.empty(2, 0)
        self._confident = torch.empty(0, dtype=torch.long)

    def prepare(self) -> None:
        """Let the probe prepare."""
        if self.probe is not None:
            self.probe.prepare()

    def prior(self) -> Tensor:
        """Return the server's prior, or this client's own estimate of it."""
        if self._given_prior is not None:
            return self._given_prior.to(self.frequency)
        return smoothed(self.frequency * len(self.pseudo_label))

    def start_epoch(self, teacher: Classifier) -> None:
        """Adapt tau to the last epoch, then label the client with the global model."""
        self._adaptive = int(self.epochs) > self.adapt_after
        self.tau = adjustment(self.distance) if self._adaptive else STRENGTH
        self.epochs += 1
        self._sum, self._steps = torch.zeros_like(self.distance), 0
        if len(self.pseudo_label):
            self._label(teacher)

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the loss of both heads on two strong views."""
        index = batch.unlabeled.to(self._weights.device)
        self._observe(index)
        images = self._bench.unlabeled(batch.unlabeled)
        self._bench.show_weak(student, images)
        views = [self._bench.strong(images), self._bench.strong(images)]
        heads = both_heads(student, self._bench.show(student, views))
        losses = [
            (weight[index].repeat(2) * _losses(logits, label[index].repeat(2))).mean()
            for logits, label, weight in zip(
                heads, self._labels, self._weights, strict=True
            )
        ]
        return torch.stack(losses).sum()

    def statistics(self) -> dict[str, Tensor]:
        """Report what the probe measured."""
        return {} if self.probe is None else self.probe.statistics()

    def metrics(self) -> dict[str, float]:
        """Log the adjustment and which part of the labels the balanced head learns."""
        admitted = float(self._weights[1].mean()) if self._weights.numel() else 0.0
        return {"tau": self.tau, "admitted": admitted}

    @torch.inference_mode()
    def _label(self, teacher: Classifier) -> None:
        everything = torch.arange(len(self.pseudo_label))
        parts = [self._look(teacher, part) for part in torch.split(everything, _CHUNK)]
        feature, standard, balanced = (
            torch.cat(each) for each in zip(*parts, strict=True)
        )
        count = standard.argmax(1).bincount(minlength=len(self.frequency))
        self.frequency.lerp_(count / count.sum(), 1 - self.ema)
        log_prior = self.prior().log()
        adapted = (standard - self.tau * log_prior).softmax(1).max(1)
        fixed = (standard - STRENGTH * log_prior).softmax(1).max(1)
        plain, own = standard.softmax(1).amax(1), balanced.softmax(1).max(1)
        sure = [
            (adapted.values >= self.cutoff) | (plain >= self.cutoff),
            (fixed.values >= self.cutoff) | (own.values >= self.cutoff),
        ]
        self._labels = torch.stack([adapted.indices, fixed.indices])
        self._weights = torch.stack(sure).float()
        self._confident = torch.where(own.values >= self.cutoff, own.indices, -1)
        taken = torch.where(sure[1], fixed.indices, -1)
        self.pseudo_label.copy_(taken)
        self.num_pseudo = int(sure[1].sum())
        if self.probe is not None:
            self.probe.start_round()
            place = torch.nonzero(sure[1]).flatten()
            self.probe(feature[place], taken[place], place)

    def _look(
        self, teacher: Classifier, index: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        output = teacher(self._bench.weak(self._bench.unlabeled(index)))
        return (output.feature, *both_heads(teacher, output))

    def _observe(self, index: Tensor) -> None:
        """Follow which classes the balanced head sees, at most once in a batch each.

        A batch without a confident label adds nothing to the epoch's mean distance.
        """
        if not self._adaptive:
            return
        self._steps += 1
        found = self._confident[index]
        count = found[found >= 0].bincount(minlength=len(self.class_share))
        if count.any():
            present = (count > 0).to(self.class_share)
            self.class_share.lerp_(present / present.sum(), 1 - self.ema)
            self._sum += distances(self.class_share, self.prior())
        self.distance.copy_(self._sum / self._steps)


def _losses(logits: Tensor, label: Tensor) -> Tensor:
    return F.cross_entropy(logits, label, reduction="none")
