"""A server with momentum: it goes on in the direction of its last steps.

SemiFL and FedDB step from the old model towards the clients' mean with SGD of rate 1
and momentum ½: v ← ½ v + (mean − old), new = old + v. Batch-norm statistics are no
parameters and take the mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import Tensor

from fedsemi.messages import Weights
from fedsemi.state import ServerState


@dataclass(frozen=True)
class MomentumState(ServerState):
    """The server's state with its last step."""

    velocity: Weights = field(default_factory=dict)
    """v of each parameter; empty before the first round."""


def stepped(
    state: MomentumState, mean: Weights, parameters: frozenset[str], keep: float
) -> tuple[Weights, Weights]:
    """Return the model after a step towards the mean, and the velocity.

    >>> import torch
    >>> one = torch.tensor([1.0])
    >>> old = MomentumState({"x": one}, (), velocity={"x": one})
    >>> new, v = stepped(old, {"x": 3 * one}, frozenset({"x"}), keep=0.5)
    >>> float(v["x"]), float(new["x"])  # ½ · 1 + (3 − 1), 1 + 2.5
    (2.5, 3.5)
    """
    velocity: dict[str, Tensor] = {}
    new: dict[str, Tensor] = dict(mean)
    last: Mapping[str, Tensor] = state.velocity
    for key in sorted(parameters & mean.keys()):
        old = state.whole[key]
        step = mean[key] - old
        velocity[key] = keep * last[key] + step if key in last else step
        new[key] = old + velocity[key]
    return new, velocity
