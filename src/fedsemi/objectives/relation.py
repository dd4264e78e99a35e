"""Relations between classes: how a model that knows one class sees the others.

Liu et al., Federated Semi-supervised Medical Image Classification via Inter-client
Relation Matching, MICCAI 2021 (FedIRM).
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from fedsemi.data.client import Batch
from fedsemi.messages import RELATION
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective
from fedsemi.objectives.information import entropy
from fedsemi.objectives.mean_teacher import MeanTeacher
from fedsemi.objectives.supervised import log_prior
from fedsemi.objectives.workbench import Workbench

_TEMPERATURE = 2.0


def relation_matrix(logits: Tensor, labels: Tensor, num_classes: int) -> Tensor:
    """Return softmax(mean logits of each class / 2), [C, C].

    Of an absent class the mean is zero, so its row is uniform, as in the released code.
    """
    chosen = F.one_hot(labels, num_classes).to(logits.dtype)  # [B, C]
    mean = chosen.T @ logits / chosen.sum(0)[:, None].clamp_min(1)
    return (mean / _TEMPERATURE).softmax(1)


def relation_loss(mine: Tensor, theirs: Tensor) -> Tensor:
    """Return half of both divergences, the mean over all classes, absent ones too."""
    p, q = mine.clamp_min(1e-12), theirs.clamp_min(1e-12)
    both = (p - q) * (p.log() - q.log())  # KL(p, q) + KL(q, p), entry by entry
    return both.sum(1).mean() / 2


class RelatedLabels(Objective):
    """Smoothed cross entropy of two weak views; collects the relation matrix."""

    def __init__(self, bench: Workbench, smoothing: float) -> None:
        super().__init__()
        self._bench = bench
        self.smoothing = smoothing
        classes = bench.num_classes
        adjusted = bench.setup.local.loss == "balanced-softmax"
        prior = log_prior(bench.client.labels, classes) if adjusted else torch.zeros(1)
        self._log_prior = prior.to(bench.setup.device)
        self._sum = torch.zeros(classes, classes)
        self._batches = 0

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the loss of the labeled part, summed over the two views."""
        images, labels = self._bench.labeled(batch.labeled)
        views = [self._bench.weak(images), self._bench.weak(images)]
        logits = self._bench.show(student, views).logits
        first = logits[: len(labels)].detach()
        self._sum += relation_matrix(first, labels, self._bench.num_classes).cpu()
        self._batches += 1
        return 2 * F.cross_entropy(
            logits + self._log_prior, labels.repeat(2), label_smoothing=self.smoothing
        )

    def statistics(self) -> dict[str, Tensor]:
        """Report the matrix, averaged over batches; nothing without labels."""
        if not self._bench.client.num_labeled:
            return {}
        if not self._batches:  # one lone sample: all classes are as good as absent
            return {RELATION: torch.full_like(self._sum, 1 / len(self._sum)).flatten()}
        return {RELATION: (self._sum / self._batches).flatten()}


class RelationMatching(Objective):
    """A mean teacher's student whose own reliable labels relate classes as labels do.

    Labels, confidence and entropy are the student's; the teacher is for consistency.
    """

    def __init__(
        self,
        mean_teacher: MeanTeacher,
        relation: Tensor,
        weight: float,
        confidence: float,
        entropy_below: float,
    ) -> None:
        super().__init__()
        self.mean_teacher = mean_teacher
        self._relation = relation
        self.weight = weight
        self.confidence = confidence
        self.entropy_below = entropy_below

    def start_epoch(self, teacher: Classifier) -> None:
        """Let the mean teacher look at the received model."""
        self.mean_teacher.start_epoch(teacher)

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return consistency and relation matching, weighted."""
        target = self.mean_teacher.look(batch)
        self.num_pseudo = self.mean_teacher.num_pseudo
        logits = self.mean_teacher.see(student, batch)
        loss = self.mean_teacher.error(logits.softmax(1), target)
        probs = logits.detach().softmax(1)
        best, label = probs.max(1)
        reliable = (best >= self.confidence) & (entropy(probs) < self.entropy_below)
        mine = relation_matrix(logits[reliable], label[reliable], logits.shape[1])
        return self.weight * (loss + relation_loss(mine, self._relation))

    def after_step(self, student: Classifier) -> None:
        """Let the mean teacher follow."""
        self.mean_teacher.after_step(student)

    def metrics(self) -> dict[str, float]:
        """Log what the mean teacher has to say."""
        return self.mean_teacher.metrics()
