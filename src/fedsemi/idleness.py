"""Who answers without learning: the model as it was, or with noise on it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from fedsemi.replies import Reply

_UNMOVED = 1e-3
"""A step below this part of the median step is none."""
_UNRELATED = 0.02
"""Noise in d dimensions has a cosine of about 1 / sqrt(d) with any step that learns."""
_LEAST_PEERS = 3


def idle_clients(replies: Sequence[Reply]) -> set[int]:
    """Name the unlabeled clients whose step is none, or unrelated to all others."""
    norms = torch.tensor([reply.norm for reply in replies], dtype=torch.double)
    if len(replies) < _LEAST_PEERS:
        return set()
    unmoved = norms <= _UNMOVED * norms.median()
    unrelated = _cosines_to_others(replies).abs() < _UNRELATED
    return {
        reply.info.id
        for reply, idle in zip(replies, (unmoved | unrelated).tolist(), strict=True)
        if idle and not reply.info.num_labeled
    }


def _cosines_to_others(replies: Sequence[Reply]) -> Tensor:
    """Return the cosine of each step to the sum of the other steps' directions.

    Entry by entry and in two passes, so that memory does not grow with the clients.
    """
    dots = torch.zeros(len(replies), dtype=torch.double)
    square = 0.0
    for key, old in replies[0].task.weights.items():
        if old.is_floating_point():
            total = torch.zeros(old.numel())
            for reply in replies:
                total += _direction(reply, key)
            dots += torch.stack([_direction(r, key) @ total for r in replies])
            square += float(total @ total)
    own = torch.tensor([float(reply.norm > 0) for reply in replies])
    others = (square - 2 * dots + own).clamp_min(1e-30).sqrt()
    return (dots - own) / others


def _direction(reply: Reply, key: str) -> Tensor:
    step = reply.update.weights[key].detach() - reply.task.weights[key]
    return (step / max(reply.norm, 1e-30)).flatten()
