"""Pseudo-labels: the teacher labels the weak view, the student learns the strong."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from fedsemi.data.client import Batch
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective
from fedsemi.objectives.labeler import Labeler
from fedsemi.objectives.selection import Selection
from fedsemi.objectives.workbench import Loss, Workbench

Teacher = Literal["global", "local"]


class PseudoLabel(Objective):
    """Cross entropy of the strong view with the teacher's label of the weak view.

    With the global teacher, which is frozen for the round, all labels of an epoch are
    made in one pass of large batches; with the local teacher the student labels each
    batch as it is at that moment. With balanced softmax the frequencies of the client's
    own confident labels are added to the student's logits, one more for each class, so
    that pseudo-labels of a common class do not undo what labels taught of a rare one.
    """

    def __init__(
        self,
        bench: Workbench,
        selection: Selection,
        labeler: Labeler,
        teacher: Teacher = "global",
        loss: Loss = "cross-entropy",
    ) -> None:
        super().__init__()
        self._bench = bench
        self.selection = selection
        self.labeler = labeler
        self.teacher = teacher
        self.loss = loss
        self._probs = torch.empty(0)
        self._weight_sum, self._weight_count = 0.0, 0

    def prepare(self) -> None:
        """Let the labeler prepare."""
        self.labeler.prepare()

    def start_epoch(self, teacher: Classifier) -> None:
        """Label the whole client with the frozen global model."""
        self.labeler.forget()
        if self.teacher == "global" and self._bench.client.num_unlabeled:
            self._probs = self.labeler.everything(teacher)
        self.num_pseudo = self.labeler.num_pseudo

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the weighted loss of the unlabeled part."""
        index = batch.unlabeled
        if self.teacher == "global":
            probs = self._probs[index.to(self._probs.device)]
        else:
            probs = self.labeler(student.eval(), index)
            student.train()
            self.num_pseudo = self.labeler.num_pseudo
        weight: Tensor = self.selection(probs, index.to(probs.device))
        images = self._bench.unlabeled_for_views(index)
        self._bench.show_weak(student, images)
        logits: Tensor = student(self._bench.strong(images)).logits
        adjusted = logits + self._log_prior() if self._balanced else logits
        losses = F.cross_entropy(adjusted, probs.argmax(1), reduction="none")
        self._weight_sum += float(weight.sum())
        self._weight_count += len(weight)
        fairness = self.selection.regularizer(logits.softmax(1), weight)
        return (weight * losses).mean() + fairness

    @property
    def _balanced(self) -> bool:
        return self.loss == "balanced-softmax"

    def _log_prior(self) -> Tensor:
        count = self.labeler.class_count.float() + 1
        return (count / count.sum()).log()

    def statistics(self) -> dict[str, Tensor]:
        """Report what the labeler's probe measured."""
        return self.labeler.statistics()

    def metrics(self) -> dict[str, float]:
        """Log which part of the pseudo-labels entered the loss."""
        admitted = self._weight_sum / max(self._weight_count, 1)
        return {"admitted": admitted, **self.labeler.metrics()}
