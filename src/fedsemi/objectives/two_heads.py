"""Two heads on one encoder: a standard one and a balanced one, as ACR trains them.

The classifier's own head is the balanced one, which is tested; the standard head
travels beside it as the part `standard`.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

from torch import Tensor, nn
from torch.nn import functional as F

from fedsemi.data.client import Batch
from fedsemi.messages import CLASS_COUNT
from fedsemi.models import Classifier, Output
from fedsemi.objectives.base import Objective
from fedsemi.objectives.workbench import Workbench

STANDARD = "standard"
STRENGTH = 2.0
"""How many times ACR adds the log prior to the logits, or subtracts it."""


def standard_head(model: Classifier) -> Mapping[str, nn.Module]:
    """Make the second head; it starts as a copy of the one that warm-up trained."""
    return {STANDARD: deepcopy(model.head)}


def smoothed(count: Tensor) -> Tensor:
    """Turn counts into a prior, one sample added to each class.

    A class that nobody has seen would otherwise win every adjusted prediction.
    """
    return (count + 1) / (count + 1).sum()


def both_heads(model: Classifier, output: Output) -> tuple[Tensor, Tensor]:
    """Return the logits of the standard head and of the balanced one."""
    standard: Tensor = model.get_submodule(STANDARD)(output.feature)
    return standard, output.logits


class TwoHeadSupervised(Objective):
    """Cross entropy of the standard head plus adjusted one of the balanced head."""

    def __init__(self, bench: Workbench, send_counts: bool = False) -> None:
        super().__init__()
        self._bench = bench
        self._count = bench.client.labels.bincount(minlength=bench.num_classes)
        self._send_counts = send_counts

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the loss of the labeled part, over a weak and a strong view."""
        images, labels = self._bench.labeled(batch.labeled)
        views = [self._bench.weak(images), self._bench.strong(images)]
        standard, balanced = both_heads(student, self._bench.show(student, views))
        adjusted = balanced + STRENGTH * smoothed(self._count).log().to(balanced.device)
        target = labels.repeat(2)
        return F.cross_entropy(standard, target) + F.cross_entropy(adjusted, target)

    def statistics(self) -> dict[str, Tensor]:
        """Tell the server the class counts, if its prior comes from labeled clients."""
        told = self._send_counts and self._bench.client.num_labeled
        return {CLASS_COUNT: self._count.float()} if told else {}
