"""Soft consistency: the strong view is to be seen as the weak one is."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from fedsemi.data.client import Batch
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective
from fedsemi.objectives.labeler import Labeler
from fedsemi.objectives.workbench import Workbench


class SoftConsistency(Objective):
    """Cross entropy of the strong view with the student's own view of the weak one."""

    def __init__(self, bench: Workbench, labeler: Labeler) -> None:
        super().__init__()
        self._bench = bench
        self.labeler = labeler

    def start_epoch(self, teacher: Classifier) -> None:
        """Forget the last epoch's labels."""
        self.labeler.forget()

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the loss of the unlabeled part."""
        target = self.labeler(student.eval(), batch.unlabeled)
        self.num_pseudo = self.labeler.num_pseudo
        student.train()
        strong = self._bench.strong(self._bench.unlabeled(batch.unlabeled))
        return F.cross_entropy(student(strong).logits, target.clone())

    def metrics(self) -> dict[str, float]:
        """Log how confident the student was."""
        return self.labeler.metrics()
