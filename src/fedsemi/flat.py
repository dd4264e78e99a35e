"""Tensors that lie in one block of memory, as they do in a safetensors file.

A model has dozens of small entries. Whoever looks at all of them, to measure, add up,
send or store them, pays for each call more than for its numbers; one vector that has
all numbers in it takes a tenth of the time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, KeysView, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

import torch
from torch import Tensor

_NAMES = {
    torch.float64: "F64",
    torch.int64: "I64",
    torch.uint64: "U64",
    torch.complex64: "C64",
    torch.float32: "F32",
    torch.int32: "I32",
    torch.uint32: "U32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int16: "I16",
    torch.uint16: "U16",
    torch.uint8: "U8",
    torch.int8: "I8",
    torch.bool: "BOOL",
}
"""The largest first, so that all of them lie where their size divides the place."""
_DTYPES = {name: dtype for dtype, name in _NAMES.items()}
_ORDER = {dtype: place for place, dtype in enumerate(_NAMES)}

CACHED = 2**18
"""So many numbers at a time stay in the processor's cache."""

Entry = tuple[str, torch.dtype, tuple[int, ...]]
"""Name, type and shape."""


@dataclass(frozen=True)
class Part:
    """The entries of one type, one after the other."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    """Numbers of each."""
    begin: int
    end: int
    """Where their bytes lie."""

    @cached_property
    def groups(self) -> tuple[tuple[int, list[int]], ...]:
        """Where groups of whole entries begin, and the sizes of their entries.

        A group fits in the processor's cache, unless it is one entry.
        """
        groups: list[tuple[int, list[int]]] = []
        at = 0
        for size in self.sizes:
            if groups and sum(groups[-1][1]) + size <= CACHED:
                groups[-1][1].append(size)
            else:
                groups.append((at, [size]))
            at += size
        return tuple(groups)


@dataclass(frozen=True)
class Layout:
    """Which tensors lie in a block, in their own order; types lie together."""

    entries: tuple[Entry, ...]

    @cached_property
    def places(self) -> Mapping[str, tuple[int, int]]:
        """Where the bytes of each entry begin and end."""
        places, at = dict[str, tuple[int, int]](), 0
        for name, dtype, shape in sorted(self.entries, key=lambda e: _ORDER[e[1]]):
            end = at + prod(shape) * dtype.itemsize
            places[name] = at, end
            at = end
        return {name: places[name] for name, _, _ in self.entries}

    @cached_property
    def size(self) -> int:
        """Bytes of the block."""
        return max((end for _, end in self.places.values()), default=0)

    @cached_property
    def kinds(self) -> Mapping[str, tuple[torch.dtype, tuple[int, ...]]]:
        """Type and shape of each entry."""
        return {name: (dtype, shape) for name, dtype, shape in self.entries}

    @cached_property
    def parts(self) -> Mapping[torch.dtype, Part]:
        """What lies in the block of each type."""
        parts: dict[torch.dtype, Part] = {}
        for dtype in _NAMES:
            found = [
                (name, shape) for name, kind, shape in self.entries if kind is dtype
            ]
            if found:
                names = tuple(name for name, _ in found)
                sizes = tuple(prod(shape) for _, shape in found)
                begin, end = self.places[names[0]][0], self.places[names[-1]][1]
                parts[dtype] = Part(names, sizes, begin, end)
        return parts

    @cached_property
    def header(self) -> bytes:
        """What a safetensors file has in front of the block."""
        told = {
            name: {
                "dtype": _NAMES[dtype],
                "shape": shape,
                "data_offsets": self.places[name],
            }
            for name, dtype, shape in self.entries
        }
        text = json.dumps(told, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        return len(text).to_bytes(8, "little") + text


class Flat(Mapping[str, Tensor]):
    """Tensors as views of one block; each view is made when it is asked for."""

    def __init__(self, layout: Layout, block: Tensor) -> None:
        self.layout = layout
        self._block = block

    @classmethod
    def of(cls, tensors: Mapping[str, Tensor]) -> Flat:
        """Return tensors that are flat already, or copy them into a new block."""
        if isinstance(tensors, Flat):
            return tensors
        entries = tuple((k, v.dtype, tuple(v.shape)) for k, v in tensors.items())
        layout = _one_of_its_kind(Layout(entries))
        return _laid_out(layout, tensors)

    @classmethod
    def held(cls, tensors: Mapping[str, Tensor]) -> Flat:
        """Return flat tensors whose block stays, however they were found."""
        flat = cls.of(tensors)
        return Flat(flat.layout, flat.block)

    @property
    def block(self) -> Tensor:
        """The bytes of all tensors."""
        return self._block

    def parts(self) -> dict[torch.dtype, Tensor]:
        """Return all numbers of each type as one vector."""
        block = self.block
        return {
            dtype: block[part.begin : part.end].view(dtype)
            for dtype, part in self.layout.parts.items()
        }

    def floats(self) -> Tensor:
        """Return all floating numbers as one vector."""
        found = [v for dtype, v in self.parts().items() if dtype.is_floating_point]
        return found[0] if len(found) == 1 else torch.cat(found)

    def like(self, tensors: Mapping[str, Tensor]) -> Flat:
        """Lay tensors with the same names out as these are."""
        if isinstance(tensors, Flat) and tensors.layout == self.layout:
            return tensors
        return _laid_out(self.layout, tensors)

    def __getitem__(self, name: str) -> Tensor:
        dtype, shape = self.layout.kinds[name]
        begin, end = self.layout.places[name]
        return self.block[begin:end].view(dtype).view(shape)

    def __contains__(self, name: object) -> bool:
        return name in self.layout.kinds

    def __iter__(self) -> Iterator[str]:
        return iter(self.layout.kinds)

    def keys(self) -> KeysView[str]:
        """Return the names, which are compared without making a view of each."""
        return self.layout.kinds.keys()

    def __len__(self) -> int:
        return len(self.layout.entries)


def _laid_out(layout: Layout, tensors: Mapping[str, Tensor]) -> Flat:
    flat = Flat(layout, torch.empty(layout.size, dtype=torch.uint8))
    for dtype, vector in flat.parts().items():
        names = layout.parts[dtype].names
        torch.cat([tensors[k].detach().cpu().flatten() for k in names], out=vector)
    return flat


@lru_cache(maxsize=64)
def read_layout(header: bytes) -> Layout:
    """Find the layout that a header describes, the length in front left out."""
    told = json.loads(header)
    entries = ((k, _DTYPES[v["dtype"]], tuple(v["shape"])) for k, v in told.items())
    return _one_of_its_kind(Layout(tuple(entries)))


@lru_cache(maxsize=64)
def _one_of_its_kind(layout: Layout) -> Layout:
    """Return the same layout for the thousands of answers that have it."""
    return layout
