"""Arithmetic on state dicts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from fedsemi.flat import CACHED, Flat
from fedsemi.messages import Weights


def weights_of(model: nn.Module) -> Weights:
    """Copy a model's state dict to the CPU."""
    return Flat.of(model.state_dict())


def num_bytes(tensors: Mapping[str, Tensor]) -> int:
    """Add up the bytes of the values."""
    if isinstance(tensors, Flat):
        return tensors.layout.size
    return sum(value.numel() * value.element_size() for value in tensors.values())


def weighted_mean(base: Weights, many: Sequence[Weights], shares: Tensor) -> Weights:
    """Average state dicts; what the shares leave to one stays on `base`.

    Float entries, batch-norm statistics among them, are averaged in double precision
    in the order given. Integer counters take the largest value: the mean of step
    counts means nothing.
    """
    left = max(0.0, 1.0 - float(shares.sum()))
    kept = left if left > 1e-9 else 0.0
    start = Flat.of(base)
    totals = {
        dtype: part.double() * kept if dtype.is_floating_point else part.clone()
        for dtype, part in start.parts().items()
    }
    # One state dict after the other, so that each is read once and only one at a time.
    for weights, share in zip(many, shares.tolist(), strict=True):
        if share > 0:
            _add(totals, start.like(weights), share)
    values = {
        name: value.to(dtype, copy=True)
        for dtype, part in start.layout.parts.items()
        for name, value in zip(
            part.names, torch.split(totals.pop(dtype), list(part.sizes)), strict=True
        )
    }
    return {key: values[key].view(old.shape) for key, old in base.items()}


def _add(totals: dict[torch.dtype, Tensor], weights: Flat, share: float) -> None:
    for dtype, part in weights.parts().items():
        pieces = (torch.split(each, CACHED) for each in (totals[dtype], part))
        for total, piece in zip(*pieces, strict=True):
            if dtype.is_floating_point:
                total.add_(piece, alpha=share)
            else:
                torch.maximum(total, piece, out=total)


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


def framed_digest(tensors: Mapping[str, Tensor]) -> str:
    """Hash the same with the length of each part before it, where others chose it.

    Nothing tells where a part ends in what `digest` hashes, so that names and numbers
    can be found by which two mappings have one hash. That one stays as it is for the
    records that hold it.
    """
    sha = hashlib.sha256()
    for key in sorted(tensors):
        value = tensors[key].detach().cpu().contiguous()
        about = (key, str(value.dtype), str(tuple(value.shape)))
        for part in (*(each.encode() for each in about), _bytes_of(value)):
            sha.update(len(part).to_bytes(8, "big"))
            sha.update(part)
    return sha.hexdigest()


def digest(weights: Weights) -> str:
    """Hash names, types, shapes and bytes of a state dict with SHA-256."""
    sha = hashlib.sha256()
    for key in sorted(weights):
        value = weights[key].detach().cpu().contiguous()
        sha.update(f"{key}:{value.dtype}:{tuple(value.shape)}".encode())
        sha.update(_bytes_of(value))
    return sha.hexdigest()


def _bytes_of(value: Tensor) -> bytes:
    # torch shows no bytes of what is empty.
    flat = value.reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes() if value.numel() else b""
