"""The arithmetic of the guard: what stands out, what is fair, what peers confirm."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

LEAST_PEERS = 3
"""Two values have no outlier."""
_TO_SIGMA = 1.4826  # MAD to standard deviation, for a normal distribution
_LEAST_MAD = 0.02  # below it, honest clients that agree would be cut for small talk


def winsorized(diversity: Tensor, spread: float = 3.0) -> Tensor:
    """Cut each class [K, C] at median + spread * sigma of the clients that have it.

    A class that fewer than three clients have is left alone. Rare classes are what
    SemiAnAgg rewards, and two values cannot tell who of them lies.
    """
    result = diversity.clone()
    for column in result.unbind(1):
        present = column[column > 0]
        if len(present) >= LEAST_PEERS:
            middle = present.quantile(0.5)
            mad = (present - middle).abs().quantile(0.5).clamp_min(_LEAST_MAD)
            column.clamp_(max=float(middle + spread * _TO_SIGMA * mad))
    return result


def peers(diversity: Tensor) -> int:
    """Count the clients [K, C] with any diversity; at least three, at most all.

    Clients without pseudo-labels get no share. If they counted, an honest client that
    is confident early would be cut, and the model would stand still. Three, because
    one or two claims give no measure of what is fair.
    """
    claiming = int((diversity > 0).any(1).sum())
    return max(min(max(claiming, LEAST_PEERS), len(diversity)), 1)


def confirmed(diversity: Tensor) -> Tensor:
    """Return the part [K] of Eq. 4 that stems from classes of three clients or more.

    There the claims [K, C] were held against each other, and two that conspire cannot
    confirm one another.
    """
    total = diversity.sum(0)
    known = total > 0
    if not known.any():
        return torch.zeros(len(diversity), dtype=diversity.dtype)
    borne = known & ((diversity > 0).sum(0) >= LEAST_PEERS)
    return (diversity[:, borne] / total[borne]).sum(1) / known.sum()


def lower_median(values: Sequence[float]) -> float | None:
    """Return the median, of an even number the lower one; None of nothing.

    The lower one, because half of the values may be an attacker's and long.
    """
    return sorted(values)[(len(values) - 1) // 2] if values else None
