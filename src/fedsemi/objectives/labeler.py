"""The teacher's pass over unlabeled images, and what may be measured on the way."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fedsemi.messages import CLASS_COUNT, PSEUDO_LABEL, Memory
from fedsemi.models import Classifier, Output
from fedsemi.models.folding import folded_once
from fedsemi.objectives.calibration import EDGES, as_metrics, bins_of
from fedsemi.objectives.workbench import Workbench

_CHUNK = 128  # larger batches leave the processor's cache and take a tenth longer


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


class ClassCount(Probe):
    """Counts the confident labels of each class."""

    count: Tensor

    def __init__(self, bench: Workbench) -> None:
        super().__init__()
        zeros = torch.zeros(bench.num_classes, dtype=torch.long)
        self.register_buffer("count", zeros, persistent=False)

    def start_round(self) -> None:
        """Begin at zero."""
        self.count.zero_()

    def forward(self, feature: Tensor, label: Tensor, index: Tensor) -> None:
        """Add these samples to their classes."""
        self.count += torch.bincount(label, minlength=len(self.count))

    def statistics(self) -> dict[str, Tensor]:
        """Return n_c, which floats hold exactly up to sixteen million."""
        return {CLASS_COUNT: self.count.float()}


def pseudo_labels_in(memory: Memory) -> Tensor | None:
    """Find this round's pseudo-labels in what a client remembers, -1 for unsure ones.

    A memory is a state dict: the labeler's buffer lies below the names of the
    objectives around it.
    """
    found = (memory[name] for name in memory if name.split(".")[-1] == PSEUDO_LABEL)
    return next(found, None)


class Labeler(nn.Module):
    """Labels samples by their weak view; remembers and probes the confident ones."""

    pseudo_label: Tensor

    def __init__(
        self, bench: Workbench, cutoff: float = 0.9, probe: Probe | None = None
    ) -> None:
        super().__init__()
        self._bench = bench
        self.cutoff = cutoff
        self.probe = probe
        nothing = torch.full((bench.client.num_unlabeled,), -1, dtype=torch.int16)
        self.register_buffer(PSEUDO_LABEL, nothing)
        self._confidences = torch.zeros(len(EDGES), dtype=torch.long)

    @property
    def num_pseudo(self) -> int:
        """Count the samples with a confident label."""
        return int((self.pseudo_label >= 0).sum())

    @property
    def class_count(self) -> Tensor:
        """Count the confident labels of each class, int64 [C]."""
        sure = self.pseudo_label[self.pseudo_label >= 0].long()
        return sure.bincount(minlength=self._bench.num_classes)

    def prepare(self) -> None:
        """Let the probe prepare."""
        if self.probe is not None:
            self.probe.prepare()

    def forget(self) -> None:
        """Drop the labels of the last epoch."""
        self.pseudo_label.fill_(-1)
        self._confidences.zero_()
        if self.probe is not None:
            self.probe.start_round()

    def everything(self, teacher: Classifier) -> Tensor:
        """Label all samples by a frozen teacher; return the probabilities, [N^U, C]."""
        parts = torch.split(torch.arange(len(self.pseudo_label)), _CHUNK)
        quick = folded_once(teacher)
        return torch.cat([self(quick, part) for part in parts])

    @torch.inference_mode()
    def forward(self, teacher: Classifier, index: Tensor) -> Tensor:
        """Return the probabilities that the teacher gives some samples, [B, C]."""
        view = self._bench.weak(self._bench.unlabeled_for_views(index))
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

    def statistics(self) -> dict[str, Tensor]:
        """Report what the probe measured."""
        return {} if self.probe is None else self.probe.statistics()

    def metrics(self) -> dict[str, float]:
        """Log how confident the teacher was, and what the probe has to say."""
        probed = {} if self.probe is None else self.probe.metrics()
        return {**probed, **as_metrics(self._confidences)}
