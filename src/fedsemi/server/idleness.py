"""Who answers without learning: the model as it was, or with noise on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from fedsemi.flat import Flat
from fedsemi.runs.records import Notice
from fedsemi.server.replies import Reply
from fedsemi.state import GateState

_UNMOVED = 1e-3
"""A step below this part of the median step is none."""
_UNRELATED = 0.02
"""Noise in d dimensions has a cosine of about 1 / sqrt(d) with any step that learns."""
_LEAST_PEERS = 3
_IDLE_ROUNDS = 5
"""Rounds in a row without learning after which a client is noted."""


def idle_noted(
    state: GateState, replies: Sequence[Reply], round: int
) -> tuple[GateState, list[Notice]]:
    """Count the rounds in which a client did not learn."""
    before, idle = dict(state.idle), idle_clients(replies)
    heard = {reply.info.id for reply in replies}
    counts = {id: n for id, n in before.items() if id not in heard}
    counts |= {id: before.get(id, 0) + 1 for id in idle}
    notices = [
        Notice(id, round, "FS2110", f"has not learned for {counts[id]} rounds")
        for id in sorted(idle)
        if counts[id] >= _IDLE_ROUNDS
    ]
    return replace(state, idle=tuple(sorted(counts.items()))), notices


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

    Reply by reply and in two passes: thousands of them may lie on disk, and neither
    memory nor the number of times that a file is opened grows with the entries.
    """
    total = _direction(replies[0])
    for reply in replies[1:]:
        total += _direction(reply)
    # As plain numbers: small tensors between the large ones would keep their memory.
    dots = torch.tensor([float(_direction(reply) @ total) for reply in replies])
    dots = dots.double()
    own = torch.tensor([float(reply.norm > 0) for reply in replies])
    others = (float(total @ total) - 2 * dots + own).clamp_min(1e-30).sqrt()
    return (dots - own) / others


def _direction(reply: Reply) -> Tensor:
    """Lay out a step of length one as a vector, without the integer counters."""
    start = Flat.of(reply.task.weights)
    step = start.like(reply.update.weights).floats() - start.floats()
    return step.div_(max(reply.norm, 1e-30))
