"""Models as the numbers of a sum, and what a method must say to be summed."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fedsemi.errors import ConfigError
from fedsemi.messages import Weights
from fedsemi.method import Method
from fedsemi.state import ServerState

_SERVER_STEP = ("contributions", "aggregate")


def num_floats(weights: Weights) -> int:
    """Count the numbers that are summed."""
    return sum(v.numel() for v in weights.values() if v.is_floating_point())


def moved(weights: Weights, sums: NDArray[np.float64]) -> Weights:
    """Move a model by a sum of steps, laid out in the order of names.

    Counters of batches stay as they are: their largest value is no sum.
    """
    new, start = dict(weights), 0
    for key in sorted(weights):
        old = weights[key]
        if not old.is_floating_point():
            continue
        part = torch.from_numpy(sums[start : start + old.numel()]).reshape(old.shape)
        start += old.numel()
        value = old.double() + part
        if key.endswith("running_var"):
            value = value.clamp_min(0)  # rounding, below a ten-millionth
        new[key] = value.to(old.dtype)
    return new


def check_own_sums(method: Method[Any]) -> None:
    """Refuse a method that changes another one's server step, but not its sums."""
    kind = type(method)
    summed = _defining(kind, "as_sums")
    for name in _SERVER_STEP:
        changed = _defining(kind, name)
        if changed is not summed and issubclass(changed, summed):
            raise ConfigError(
                f"{method.name or kind.__name__} cannot be masked: it has a server "
                f"step of its own (`{name}`), but does not say how that is a sum; "
                "give it `as_sums`",
                code="FS6002",
            )


def vars_of(state: ServerState) -> dict[str, Any]:
    """Return the fields of a plain state."""
    if type(state) is not ServerState:
        raise ConfigError(
            f"a server that keeps a {type(state).__name__} cannot be masked",
            code="FS6002",
        )
    return {f.name: getattr(state, f.name) for f in dataclasses.fields(state)}


def _defining(kind: type, name: str) -> type:
    return next(each for each in kind.__mro__ if name in vars(each))
