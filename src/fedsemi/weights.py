"""Arithmetic on state dicts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from fedsemi.messages import Weights


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Copy a model's state dict to the CPU."""
    return {
        key: value.detach().cpu().clone(memory_format=torch.contiguous_format)
        for key, value in model.state_dict().items()
    }


def num_bytes(tensors: Mapping[str, Tensor]) -> int:
    """Add up the bytes of the values."""
    return sum(value.numel() * value.element_size() for value in tensors.values())


def weighted_mean(base: Weights, many: Sequence[Weights], shares: Tensor) -> Weights:
    """Average state dicts; what the shares leave to one stays on `base`.

    Float entries, batch-norm statistics among them, are averaged in double precision
    in the order given. Integer counters take the largest value: the mean of step
    counts means nothing.
    """
    left = max(0.0, 1.0 - float(shares.sum()))
    kept = left if left > 1e-9 else 0.0
    totals = {
        key: old.double() * kept if old.is_floating_point() else old.clone()
        for key, old in base.items()
    }
    # One state dict after the other, so that each is read once and only one at a time.
    for weights, share in zip(many, shares.tolist(), strict=True):
        if share > 0:
            _add(totals, weights, share)
    return {key: totals.pop(key).to(old.dtype) for key, old in base.items()}


def _add(totals: dict[str, Tensor], weights: Weights, share: float) -> None:
    if missing := totals.keys() - weights.keys():
        raise KeyError(min(missing))
    for key, value in weights.items():
        total = totals.get(key)
        if total is None:
            continue
        if value.is_floating_point():
            total.add_(value, alpha=share)
        else:
            torch.maximum(total, value, out=total)


def blend(old: Weights, new: Weights, keep: float) -> Weights:
    """Return keep * old + (1 - keep) * new."""
    return weighted_mean(old, [new], torch.tensor([1.0 - keep], dtype=torch.float64))


def distance(a: Weights, b: Weights) -> float:
    """Sum the Euclidean norms of the differences, tensor by tensor.

    Integer counters are left out: differing numbers of steps are no distance.
    """
    return sum(
        float(torch.linalg.vector_norm(a[key].double() - b[key].double()))
        for key in a
        if a[key].is_floating_point()
    )


def digest(weights: Weights) -> str:
    """Hash names, types, shapes and bytes of a state dict with SHA-256."""
    sha = hashlib.sha256()
    for key in sorted(weights):
        value = weights[key].detach().cpu().contiguous()
        sha.update(f"{key}:{value.dtype}:{tuple(value.shape)}".encode())
        if value.numel():
            sha.update(value.reshape(-1).view(torch.uint8).numpy().tobytes())
    return sha.hexdigest()
