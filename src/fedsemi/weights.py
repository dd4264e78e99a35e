"""Arithmetic on state dicts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from fedsemi.messages import Weights


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Copy a model's state dict to the CPU."""
    return {
        key: value.detach().cpu().clone(memory_format=torch.contiguous_format)
        for key, value in model.state_dict().items()
    }


def weighted_mean(base: Weights, many: Sequence[Weights], shares: Tensor) -> Weights:
    """Average state dicts; what the shares leave to one stays on `base`.

    Float entries, batch-norm statistics among them, are averaged in double precision
    in the order given. Integer counters take the largest value: the mean of step
    counts means nothing.
    """
    left = max(0.0, 1.0 - float(shares.sum()))
    kept = left if left > 1e-9 else 0.0
    used = [(w, float(s)) for w, s in zip(many, shares, strict=True) if s > 0]
    return {key: _mean_of_entry(key, old, used, kept) for key, old in base.items()}


def _mean_of_entry(
    key: str, old: Tensor, used: Sequence[tuple[Weights, float]], kept: float
) -> Tensor:
    if not old.is_floating_point():
        return torch.stack([old, *(weights[key] for weights, _ in used)]).amax(0)
    total = old.double() * kept
    for weights, share in used:
        total.add_(weights[key], alpha=share)
    return total.to(old.dtype)


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
        sha.update(value.reshape(-1).view(torch.uint8).numpy().tobytes())
    return sha.hexdigest()
