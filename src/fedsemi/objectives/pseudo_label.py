"""Pseudo-labels: the teacher labels the weak view, the student learns the strong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fedsemi.calibration import EDGES, as_metrics, bins_of
from fedsemi.data.client import Batch
from fedsemi.messages import PSEUDO_LABEL
from fedsemi.models import Classifier, Output
from fedsemi.objectives.base import Objective
from fedsemi.objectives.selection import Selection

if TYPE_CHECKING:
    from fedsemi.local import Workbench

Teacher = Literal["global", "local"]

_CHUNK = 256


class Probe(nn.Module):
    """Sees what the teacher computed anyway, and measures something about it."""

    def prepare(self) -> None:
        """Do what is needed once in a client's life."""

    def start_round(self) -> None:
        """Forget the last pass."""

    def forward(self, feature: Tensor, label: Tensor, index: Tensor) -> None:
        """Look at features and pseudo-labels of confident samples."""
        raise NotImplementedError

    def statistics(self) -> dict[str, Tensor]:
        """Say what the server is told."""
        raise NotImplementedError

    def metrics(self) -> dict[str, float]:
        """Say what is worth logging."""
        return {}


class PseudoLabel(Objective):
    """Cross entropy of the strong view with the teacher's label of the weak view.

    With the global teacher, which is frozen for the round, all labels of an epoch are
    made in one pass of large batches; with the local teacher the student labels each
    batch as it is at that moment.
    """

    pseudo_label: Tensor

    def __init__(
        self,
        bench: Workbench,
        selection: Selection,
        *,
        cutoff: float = 0.9,
        teacher: Teacher = "global",
        probe: Probe | None = None,
    ) -> None:
        super().__init__()
        self._bench = bench
        self.selection = selection
        self.cutoff = cutoff
        self.teacher = teacher
        self.probe = probe
        nothing = torch.full((bench.client.num_unlabeled,), -1, dtype=torch.int16)
        self.register_buffer(PSEUDO_LABEL, nothing)
        self._probs = torch.empty(0)
        self._weight_sum, self._weight_count = 0.0, 0
        self._confidences = torch.zeros(len(EDGES), dtype=torch.long)

    def prepare(self) -> None:
        """Let the probe prepare."""
        if self.probe is not None:
            self.probe.prepare()

    def start_epoch(self, teacher: Classifier) -> None:
        """Label the whole client with the frozen global model."""
        self.pseudo_label.fill_(-1)
        self._confidences.zero_()
        if self.probe is not None:
            self.probe.start_round()
        if self.teacher == "global" and len(self.pseudo_label):
            everything = torch.arange(len(self.pseudo_label))
            parts = torch.split(everything, _CHUNK)
            self._probs = torch.cat([self._look(teacher, part) for part in parts])
            self.num_pseudo = int((self.pseudo_label >= 0).sum())

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the weighted loss of the unlabeled part."""
        index = batch.unlabeled
        if self.teacher == "global":
            probs = self._probs[index.to(self._probs.device)]
        else:
            probs = self._look(student.eval(), index)
            student.train()
            self.num_pseudo = int((self.pseudo_label >= 0).sum())
        weight: Tensor = self.selection(probs, index.to(probs.device))
        strong = self._bench.strong(self._bench.unlabeled(index))
        logits: Tensor = student(strong).logits
        losses = F.cross_entropy(logits, probs.argmax(1), reduction="none")
        self._weight_sum += float(weight.sum())
        self._weight_count += len(weight)
        fairness = self.selection.regularizer(logits.softmax(1), weight)
        return (weight * losses).mean() + fairness

    def statistics(self) -> dict[str, Tensor]:
        """Report what the probe measured."""
        return {} if self.probe is None else self.probe.statistics()

    def metrics(self) -> dict[str, float]:
        """Log which part entered the loss, and how confident the teacher was."""
        admitted = self._weight_sum / max(self._weight_count, 1)
        probed = {} if self.probe is None else self.probe.metrics()
        return {"admitted": admitted, **probed, **as_metrics(self._confidences)}

    @torch.inference_mode()
    def _look(self, teacher: Classifier, index: Tensor) -> Tensor:
        """Label samples by their weak view; remember and probe the confident ones."""
        view = self._bench.weak(self._bench.unlabeled(index))
        output: Output = teacher(view)
        probs = output.logits.softmax(1)
        confidence, label = probs.max(1)
        sure = confidence >= self.cutoff
        self._confidences += bins_of(confidence[sure]).cpu()
        place = index.to(label.device)[sure]
        self.pseudo_label[place] = label[sure].to(self.pseudo_label.dtype)
        if self.probe is not None:
            self.probe(output.feature[sure], label[sure], place)
        return probs
