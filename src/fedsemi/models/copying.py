"""Copies of networks, at a tenth of the time that `copy.deepcopy` takes.

A federated round makes three networks for every client: the student, the frozen global
model and the one that labels. With many small clients this is most of the round.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import TypeVar

import torch
from torch import Tensor, nn

M = TypeVar("M", bound=nn.Module)


def copied(module: M, tensor: Callable[[Tensor], Tensor] = Tensor.clone) -> M:
    """Copy a module with all modules in it; a tensor that two share, two share again.

    What is neither tensor nor module (sizes, strides, names) is the same object in the
    copy, so a module must not change such a thing in place. Nobody knows what a module
    from outside does: it is copied in depth.

    Args:
        module: Left as it is.
        tensor: Makes the copy of a parameter's or buffer's values.
    """
    if not all(_is_known(type(inner).__module__) for inner in module.modules()):
        return deepcopy(module)
    return _copied(module, tensor, {})


@cache
def _is_known(module: str) -> bool:
    return module.partition(".")[0] in ("torch", "fedsemi")


def _copied(
    module: M, tensor: Callable[[Tensor], Tensor], seen: dict[int, Tensor]
) -> M:
    twin = module.__class__.__new__(module.__class__)
    # Hooks and names lie in dicts and sets, which each module needs for its own.
    twin.__dict__ = {
        name: value.copy() if isinstance(value, dict | set) else value
        for name, value in vars(module).items()
    }
    for mine in (twin._parameters, twin._buffers):
        for name, value in mine.items():
            if value is not None:
                if id(value) not in seen:
                    seen[id(value)] = _like(value, tensor)
                mine[name] = seen[id(value)]  # type: ignore[assignment]
    for name, inner in twin._modules.items():
        if inner is not None:
            twin._modules[name] = _copied(inner, tensor, seen)
    return twin


def _like(value: Tensor, tensor: Callable[[Tensor], Tensor]) -> Tensor:
    copy = tensor(value.detach())
    if isinstance(value, nn.Parameter):
        return nn.Parameter(copy, value.requires_grad)
    return copy


def undefined(value: Tensor) -> Tensor:
    """Return memory for such a tensor, with whatever it held."""
    return torch.empty(value.shape, dtype=value.dtype)
