"""What travels between server and clients: a Task goes out, an Update comes back.

Nothing else leaves a client. A client's `Memory` (momentum, anchor features, learned
labels) stays where the client is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor

Weights = Mapping[str, Tensor]
"""A model's state dict, on the CPU."""

Memory = Mapping[str, Tensor]
"""What stays on one client from round to round."""

DIVERSITY = "diversity"
"""Statistic [C]: 1 - similarity to the anchor, 0 for an absent pseudo-class (Eq. 3)."""

CLASS_COUNT = "class_count"
"""Statistic [C]: labels and pseudo-labels that a client learned from, per class."""

RELATION = "relation"
"""Statistic [C * C]: how a labeled client sees each class, row after row (FedIRM)."""

CENTROIDS = "centroids"
"""Statistic [L * d]: centers of a client's clusters, row after row (Orchestra)."""

MEAN_PREDICTION = "mean_prediction"
"""Statistic [C]: mean class probabilities on a client's unlabeled images (FedDB)."""

CONFIDENCE = "confidence"
"""Statistic [1]: mean confidence of the model on unlabeled images ((FL)²)."""

STATISTICS = (DIVERSITY, CLASS_COUNT, RELATION, CENTROIDS, MEAN_PREDICTION, CONFIDENCE)
"""All statistics of the methods that come with fedsemi."""

PSEUDO_LABEL = "pseudo_label"
"""Memory [N^U]: this round's confident pseudo-labels, -1 elsewhere. Never sent."""


@dataclass(frozen=True)
class ClientInfo:
    """All that the server may know of a client before it answers."""

    id: int
    num_labeled: int
    """N^L"""
    num_unlabeled: int
    """N^U"""


@dataclass(frozen=True)
class Task:
    """What the server asks of one client."""

    client: int
    round: int
    weights: Weights
    broadcast: Mapping[str, Tensor] = field(default_factory=dict)
    """What a method tells its clients beside the model, e.g. CBAFed's thresholds."""
    group: int = 0
    """RSCFed's sub-consensus group."""
    seed: int = 0
    """Of (run, stage, round, client, group); every random stream derives from it."""


Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Findings:
    """What a labeled site counted on images that it held out of training.

    All of it are sums, so that those of several sites add up. Whether they can be true
    is checked where they are read, see `fedsemi.client.findings`.
    """

    loss: Numbers
    """Negative log-likelihood, one number."""
    class_count: Numbers
    """Images of each class, [C]."""
    class_right: Numbers
    """Those whose class was found, [C]."""
    bin_count: Numbers
    """Weak views by the confidence of their prediction, [B]."""
    bin_right: Numbers
    """Those of them whose class was found, [B]."""
    bin_gap: Numbers
    """Hits less confidence of clean views, by confidence, [B]."""

    def by_name(self) -> dict[str, Numbers]:
        """Return all fields by name."""
        return dict(vars(self))


@dataclass(frozen=True)
class Update:
    """What a client answers."""

    client: int
    round: int
    weights: Weights
    num_labeled: int
    """N^L"""
    num_unlabeled: int
    """N^U"""
    num_pseudo: int = 0
    """N^U-hat: distinct unlabeled samples with a confident pseudo-label this round."""
    statistics: Mapping[str, Tensor] = field(default_factory=dict)
    """Read by the server, e.g. DIVERSITY."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """For logs only; no aggregation may read it."""
    group: int = 0
    findings: Findings | None = None
    """Of the model that came, by a labeled site that holds images out."""


def public(update: Update) -> Update:
    """Leave what shares may be made of under noise: counts, and statistics as released.

    All unlabeled images stand for pseudo-labels. A method from outside that would look
    at more, the model for instance, finds nothing there.
    """
    return replace(
        update, weights={}, metrics={}, findings=None, num_pseudo=update.num_unlabeled
    )


@dataclass(frozen=True)
class Failure:
    """What stands for an answer that cannot be used; the gate counts it as dropped.

    A client that is away or late is just missing. One that sends what cannot be read,
    or breaks its task off again and again, has failed.
    """

    client: int
    code: str
    reason: str
    """Fit to be printed."""


Answer = Update | Failure


def is_number(value: Any) -> bool:
    """Tell whether what stands for a number in an answer is one, and finite."""
    return isinstance(value, int | float) and math.isfinite(value)
