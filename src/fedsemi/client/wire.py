"""What may leave a site: declared here, checked on both sides, see `fedsemi wire`.

A method declares the statistics that its updates carry in its `statistics`, the same
declaration that the server's gate reads. All else is the same for all methods.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from fedsemi.client.findings import sizes_of
from fedsemi.errors import ProtocolError
from fedsemi.messages import Task, Update, Weights
from fedsemi.method import Method
from fedsemi.objectives.calibration import EDGES, PREFIX
from fedsemi.weights import num_bytes

USUAL_METRICS = frozenset(
    ("loss", "admitted", *(f"{PREFIX}{edge:g}" for edge in EDGES))
)
"""Numbers for the log of any method: the training loss, the share of unlabeled samples
that entered it, and how many pseudo-labels the teacher gave with which confidence."""

_NUMBERS = {
    "client": "which site answers",
    "round": "which round it answers",
    "num_labeled": "labeled images of the site",
    "num_unlabeled": "unlabeled images of the site",
    "num_pseudo": "unlabeled images with a confident pseudo-label this round",
    "group": "which group of the round (RSCFed)",
}


_FINDINGS = {
    "loss": "how wrong the model that came is on held-out images",
    "class_count": "held-out images of each class",
    "class_right": "held-out images of each class that it knows",
    "bin_count": "held-out images by its confidence",
    "bin_right": "held-out images by its confidence, those it knows",
    "bin_gap": "how far its confidence is off, by confidence",
}


@dataclass(frozen=True)
class Field:
    """One thing that leaves a site."""

    name: str
    kind: str
    num_bytes: int
    meaning: str


@dataclass(frozen=True)
class Declared:
    """What an answer may hold beside the model and the method's statistics."""

    metrics: frozenset[str]
    """Names: the usual ones and the method's own."""
    findings: Mapping[str, int]
    """How many numbers each field of `Findings` holds."""


def declared_by(method: Method[Any], num_classes: int) -> Declared:
    """Return what a site that trains with a method may send."""
    return Declared(USUAL_METRICS | method.metrics, sizes_of(num_classes))


def check_declared(
    method: Method[Any], task: Task, update: Update, num_classes: int
) -> None:
    """Refuse to send an update that holds anything the method has not declared."""
    declared = declared_by(method, num_classes)
    for name in update.statistics:
        _require(name in method.statistics, f"the statistic '{name}'")
    for name, number in update.metrics.items():
        _require(name in declared.metrics, f"the metric '{name}'")
        _require(math.isfinite(number), f"'{name}' = {number}")
    if update.findings is not None:
        for name, numbers in update.findings.by_name().items():
            fits = len(numbers) == declared.findings[name]
            finite = all(map(math.isfinite, numbers))
            _require(fits and finite, f"the findings '{name}' = {numbers}")
    due = method.due(task).keys() if method.sends_model else set()
    for name in update.weights.keys() ^ due:
        _require(False, f"the weights '{name}' without being asked")
    for name, sent in update.weights.items():
        asked = task.weights[name]
        alike = sent.shape == asked.shape and sent.dtype == asked.dtype
        _require(alike, f"the weights '{name}' as {sent.dtype} {list(sent.shape)}")


def fields_of(update: Update) -> Iterator[Field]:
    """List what an update holds, with the bytes of the values themselves."""
    yield from _always(update.weights)
    for name, tensor in update.statistics.items():
        yield _statistic(name, tensor)
    for name in update.metrics:
        yield _metric(name)
    if update.findings is not None:
        for name, found in update.findings.by_name().items():
            yield _finding(name, len(found))


def expected_fields(
    method: Method[Any], weights: Weights, num_classes: int, holds_out: bool
) -> Iterator[Field]:
    """List what an update may hold at most, before there is one.

    Args:
        method: What it declares is what its updates hold.
        weights: All tensors that travel.
        num_classes: C.
        holds_out: Whether the site holds labeled images out and reports on them.
    """
    declared = declared_by(method, num_classes)
    yield from _always(weights if method.sends_model else {})
    yield from measured_fields(method, weights)
    numbers = sum(tensor.numel() for tensor in weights.values())
    for name, statistic in method.statistics.items():
        # A masked sum of the model has as many numbers as the model.
        size = statistic.size if method.sends_model else min(statistic.size, numbers)
        dtype = statistic.dtype or torch.float32
        yield _statistic(name, torch.empty(size, dtype=dtype, device="meta"))
    for name in sorted(declared.metrics):
        yield _metric(name)
    for name, size in declared.findings.items() if holds_out else ():
        yield _finding(name, size)


def measured_fields(method: Method[Any], weights: Weights) -> Iterator[Field]:
    """Name what a site sends in a phase that learns nothing, if there is one."""
    for group in range(method.questions):
        due = method.due(Task(0, 0, weights, group=group))
        if due is not weights:
            meaning = "of all images under the model as it came, in an own answer"
            yield Field("measured", _kind(due), num_bytes(due), meaning)
            return


def _kind(weights: Weights) -> str:
    numbers = sum(tensor.numel() for tensor in weights.values())
    return f"{numbers:,} numbers in {len(weights)} tensors"


def _always(weights: Weights) -> Iterator[Field]:
    if weights:  # which a step of a masked sum does not have
        size, meaning = num_bytes(weights), "the model after local training"
        yield Field("weights", _kind(weights), size, meaning)
    for name, meaning in _NUMBERS.items():
        yield Field(name, "integer", 8, meaning)


def _statistic(name: str, tensor: Tensor) -> Field:
    kind = f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"
    size = num_bytes({name: tensor})
    return Field(f"statistics.{name}", kind, size, "read by the server")


def _metric(name: str) -> Field:
    return Field(f"metrics.{name}", "number", 8, "for the log only")


def _finding(name: str, size: int) -> Field:
    kind = f"{size} numbers" if size > 1 else "number"
    return Field(f"findings.{name}", kind, 8 * size, _FINDINGS[name])


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ProtocolError(
            f"the method would send {what}, which it does not declare; nothing was "
            "sent. Declare it in the method's `statistics` or `own_metrics`",
            code="FS2120",
        )
