"""What may leave a site: declared here, checked on both sides, see `fedsemi wire`.

A method declares the statistics that its updates carry in its `statistics`, the same
declaration that the server's gate reads. All else is the same for all methods.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fedsemi.client.findings import PREFIX as HELD_OUT
from fedsemi.client.findings import metric_names
from fedsemi.errors import ProtocolError
from fedsemi.messages import Task, Update
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


@dataclass(frozen=True)
class Field:
    """One thing that leaves a site."""

    name: str
    kind: str
    num_bytes: int
    meaning: str


def declared_metrics(method: Method[Any], num_classes: int) -> frozenset[str]:
    """Return the names of all metrics that a site may send.

    Beside the usual ones and the method's own they are what a labeled site that holds
    images out counts on them, see `findings.Findings`.
    """
    return USUAL_METRICS | method.metrics | metric_names(num_classes)


def check_declared(
    method: Method[Any], task: Task, update: Update, num_classes: int
) -> None:
    """Refuse to send an update that holds anything the method has not declared."""
    known, metrics = method.statistics, declared_metrics(method, num_classes)
    for name in update.statistics:
        _require(name in known, f"the statistic '{name}'")
    for name, number in update.metrics.items():
        _require(name in metrics, f"the metric '{name}'")
        _require(math.isfinite(number), f"'{name}' = {number}")
    for name in update.weights.keys() ^ task.weights.keys():
        _require(False, f"the weights '{name}' without being asked")
    for name, sent in update.weights.items():
        asked = task.weights[name]
        alike = sent.shape == asked.shape and sent.dtype == asked.dtype
        _require(alike, f"the weights '{name}' as {sent.dtype} {list(sent.shape)}")


def fields_of(update: Update) -> Iterator[Field]:
    """List what an update holds, with the bytes of the values themselves."""
    tensors = update.weights.values()
    size = num_bytes(update.weights)
    numbers = sum(tensor.numel() for tensor in tensors)
    kind = f"{numbers:,} numbers in {len(update.weights)} tensors"
    yield Field("weights", kind, size, "the model after local training")
    for name, meaning in _NUMBERS.items():
        yield Field(name, "integer", 8, meaning)
    for name, tensor in update.statistics.items():
        kind = f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"
        size = num_bytes({name: tensor})
        yield Field(f"statistics.{name}", kind, size, "read by the server")
    counts = [name for name in update.metrics if name.startswith(HELD_OUT)]
    for name in update.metrics:
        if name not in counts:
            yield Field(f"metrics.{name}", "number", 8, "for the log only")
    if counts:
        kind = f"{len(counts)} numbers"
        meaning = "counts on held-out images, by class and confidence"
        yield Field("metrics.held_out_*", kind, 8 * len(counts), meaning)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ProtocolError(
            f"the method would send {what}, which it does not declare; nothing was "
            "sent. Declare it in the method's `statistics` or `own_metrics`",
            code="FS2120",
        )
