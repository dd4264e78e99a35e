"""Pseudo-labels with a threshold for each class, and a second chance for rare ones.

Li et al., Class Balanced Adaptive Pseudo Labeling for Federated Semi-Supervised
Learning, CVPR 2023 (CBAFed).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from fedsemi.data.client import Batch, Client
from fedsemi.messages import CLASS_COUNT, Task, Update
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective
from fedsemi.objectives.workbench import Workbench

_CHUNK = 256


def class_thresholds(
    count: Tensor, cap: float, base: float = 0.84, rare_below: float = 0.03
) -> tuple[Tensor, Tensor]:
    """Return the threshold of each class, [C], and which classes are rare, [C].

    p = count / sum * C / 10; threshold = min(cap, p + base - std(p)).
    """
    share = count.double() / count.sum().clamp_min(1) * (len(count) / 10)
    spread = share.std() if len(count) > 1 else 0.0  # undefined for one class
    return (share + base - spread).clamp_max(cap), share < rare_below


def choose(probs: Tensor, threshold: Tensor, rare: Tensor) -> Tensor:
    """Return each sample's pseudo-label [B], -1 for none.

    The best class counts if it is above its threshold; failing that, the second best
    counts if it is rare.
    """
    confidence, label = probs.max(1)
    second = probs.scatter(1, label[:, None], -1.0).argmax(1)
    fallback = torch.where(rare[second], second, -1)
    if probs.shape[1] == 1:
        fallback = torch.full_like(label, -1)
    return torch.where(confidence > threshold[label], label, fallback)


def counts_alone(task: Task, client: Client, count: Tensor) -> Update:
    """Answer with the counts of labels alone; the model goes back as it came."""
    return Update(
        client=task.client,
        round=task.round,
        weights=dict(task.weights),
        num_labeled=client.num_labeled,
        num_unlabeled=0,  # nobody was asked for pseudo-labels, so none are missing
        statistics={CLASS_COUNT: count.float()},
    )


@dataclass(frozen=True)
class Selected:
    """The views that got a pseudo-label, as the teacher saw them."""

    views: Tensor
    """float [M, channels, H, W]; held in memory, 600 kB for an image of 224 x 224."""
    labels: Tensor
    """int64 [M]"""
    pseudo_label: Tensor
    """int16 [N^U]: the label of each unlabeled sample, -1 for none."""

    def part_of(self, client: Client) -> Client:
        """Return the client with nothing but the selected ones of its unlabeled."""
        kept = client.unlabeled_images[self.pseudo_label >= 0]
        return replace(client, unlabeled_images=kept)


@torch.inference_mode()
def select(
    bench: Workbench, teacher: Classifier, threshold: Tensor, rare: Tensor
) -> Selected:
    """Label a client by one weak view of each image, and keep the views that pass."""
    device = bench.setup.device
    views: list[Tensor] = [bench.weak(bench.unlabeled(torch.arange(0)))]
    given: list[Tensor] = [torch.empty(0, dtype=torch.long)]
    for part in torch.split(torch.arange(bench.client.num_unlabeled), _CHUNK):
        view = bench.weak(bench.unlabeled(part))
        probs = teacher(view).logits.softmax(1)
        label = choose(probs, threshold.to(device), rare.to(device))
        views.append(view[label >= 0])
        given.append(label.cpu())
    pseudo_label = torch.cat(given)
    chosen = pseudo_label[pseudo_label >= 0].to(device)
    return Selected(torch.cat(views), chosen, pseudo_label.short())


class FixedViews(Objective):
    """Cross entropy of stored views with their pseudo-labels; nothing is drawn anew."""

    def __init__(self, selected: Selected) -> None:
        super().__init__()
        self._selected = selected
        self.num_pseudo = len(selected.labels)

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the loss of the unlabeled part."""
        index = batch.unlabeled.to(self._selected.labels.device)
        # A view made in inference mode cannot be part of a graph; its copy can.
        views = self._selected.views[index].clone()
        logits = student(views).logits
        return F.cross_entropy(logits, self._selected.labels[index].clone())
