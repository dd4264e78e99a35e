"""Labels given once a round: strong views learn them, and mixtures of images do.

Diao, Ding, Tarokh, SemiFL: Semi-Supervised Federated Learning for Unlabeled Clients
with Alternate Training, NeurIPS 2022; mixtures after Zhang et al., mixup, ICLR 2018.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from fedsemi.data.client import Batch, Client
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective
from fedsemi.objectives.labeler import Labeler
from fedsemi.objectives.workbench import Workbench


@dataclass(frozen=True)
class Given:
    """What a model says of a client's unlabeled images."""

    label: Tensor
    """int64 [N^U], of all, whether sure or not."""
    pseudo_label: Tensor
    """int16 [N^U], -1 for unsure ones."""
    metrics: dict[str, float]
    """How sure the model was, for the log."""

    @property
    def sure(self) -> Tensor:
        """Which images have a confident label, [N^U]."""
        return self.pseudo_label >= 0

    def part_of(self, client: Client) -> Client:
        """Return the client with nothing but the confident ones of its unlabeled."""
        return replace(client, unlabeled_images=client.unlabeled_images[self.sure])


def give_labels(bench: Workbench, teacher: Classifier, cutoff: float) -> Given:
    """Label a client by one weak view of each image."""
    labeler = Labeler(bench, cutoff).to(bench.setup.device)
    if not bench.client.num_unlabeled:
        nothing = torch.empty(0, dtype=torch.long)
        return Given(nothing, nothing.short(), {})
    label = labeler.everything(teacher).argmax(1).cpu()
    return Given(label, labeler.pseudo_label.cpu(), labeler.metrics())


def mixed_loss(logits: Tensor, labels: Tensor, others: Tensor, part: float) -> Tensor:
    """Return the loss of mixtures, of which `part` is of the first kind.

    >>> logits = torch.tensor([[0.0, 0.0]])
    >>> zero, one = torch.tensor([0]), torch.tensor([1])
    >>> round(float(mixed_loss(logits, zero, one, 0.25)), 4)  # ¼ log 2 + ¾ log 2
    0.6931
    """
    return part * F.cross_entropy(logits, labels) + (1 - part) * F.cross_entropy(
        logits, others
    )


class FixAndMix(Objective):
    """Confident images in strong view, and mixed with as many of all in weak view.

    Args:
        bench: Of the confident images alone.
        everything: Of all images of the client.
        given: Their labels.
        concentration: Of the Beta draw that says how much of each a mixture has.
        mix_weight: Of the loss of mixtures; 0 leaves them out.
    """

    def __init__(
        self,
        bench: Workbench,
        everything: Workbench,
        given: Given,
        concentration: float,
        mix_weight: float,
    ) -> None:
        super().__init__()
        self._bench = bench
        self._everything = everything
        self._labels = given.label[given.sure]
        self._all_labels = given.label
        self._metrics = given.metrics
        self.concentration = concentration
        self.mix_weight = mix_weight
        self.num_pseudo = len(self._labels)

    def start_epoch(self, teacher: Classifier) -> None:
        """Labels are given for the round."""

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the loss of strong views and of mixtures."""
        index, device = batch.unlabeled, self._bench.setup.device
        labels = self._labels[index].to(device)
        images = self._bench.unlabeled_for_views(index)
        loss = F.cross_entropy(student(self._bench.strong(images)).logits, labels)
        if not self.mix_weight:
            return loss
        draw = self._bench.streams["mix"]
        rows = torch.randint(len(self._all_labels), (len(index),), generator=draw)
        others = self._everything.unlabeled_for_views(rows)
        seed = int(torch.randint(2**62, (), generator=draw))
        part = float(np.random.default_rng(seed).beta(*2 * (self.concentration,)))
        weak, other = self._bench.weak(images), self._bench.weak(others)
        logits = student(part * weak + (1 - part) * other).logits
        mixed = mixed_loss(logits, labels, self._all_labels[rows].to(device), part)
        return loss + self.mix_weight * mixed

    def metrics(self) -> dict[str, float]:
        """Log how confident the global model was."""
        return self._metrics
