"""Two mappings of tensors with one digest, made by who may name what is hashed."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

Tensors = dict[str, Tensor]


def look_alikes(
    one: Mapping[str, Tensor], other: Mapping[str, Tensor]
) -> tuple[Tensors, Tensors]:
    """Return `one` and `other`, each with tensors beside it that hide the other's text.

    All is one text to `digest`: in the first mapping, the beginning of `other` stands
    in a tensor behind `one`; in the second, `one` stands in a tensor before `other`.
    Names of both begin with a letter, which comes after "!" and before "~".
    """
    front, back = _text(one), _text(other)
    tail = f"~:torch.uint8:({len(back)},)".encode()
    head = f"A:torch.uint8:({len(front) + len(tail)},)".encode()
    name = f"!:torch.uint8:({len(head)},)A"
    first = {"!": _tensor(head), **one, "~": _tensor(back)}
    return first, {name: _tensor(front + tail), **other}


def _text(tensors: Mapping[str, Tensor]) -> bytes:
    """Write what `digest` hashes."""
    text = b""
    for key in sorted(tensors):
        value = tensors[key]
        text += f"{key}:{value.dtype}:{tuple(value.shape)}".encode()
        text += value.reshape(-1).view(torch.uint8).numpy().tobytes()
    return text


def _tensor(text: bytes) -> Tensor:
    return torch.frombuffer(bytearray(text), dtype=torch.uint8)
