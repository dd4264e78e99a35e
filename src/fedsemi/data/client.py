"""What one site owns. Its unlabeled part has no field for labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor

from fedsemi.messages import ClientInfo


@dataclass(frozen=True)
class Client:
    """A labeled part (images and labels) and an unlabeled part (images only)."""

    id: int
    labeled_images: Tensor
    """uint8 [N^L, C, H, W]"""
    labels: Tensor
    """int64 [N^L]"""
    unlabeled_images: Tensor
    """uint8 [N^U, C, H, W]"""

    @property
    def num_labeled(self) -> int:
        """N^L."""
        return len(self.labels)

    @property
    def num_unlabeled(self) -> int:
        """N^U."""
        return len(self.unlabeled_images)

    @property
    def info(self) -> ClientInfo:
        """What the server may know."""
        return ClientInfo(self.id, self.num_labeled, self.num_unlabeled)

    def only_labeled(self) -> Client:
        """Return this client without its unlabeled part."""
        return Client(
            self.id, self.labeled_images, self.labels, self.unlabeled_images[:0]
        )

    def only_unlabeled(self) -> Client:
        """Return this client without its labeled part."""
        return Client(
            self.id, self.labeled_images[:0], self.labels[:0], self.unlabeled_images
        )


@dataclass(frozen=True)
class Batch:
    """Indices into the two parts of a client; a part without data is empty."""

    labeled: Tensor
    unlabeled: Tensor


def batches(
    client: Client, batch_size: int, generator: torch.Generator
) -> Iterator[Batch]:
    """Yield one epoch of mini-batches: each sample of the longer part once.

    The shorter part of a partially labeled client starts anew when it runs out. A lone
    last sample is left out, here and nowhere else: batch norm cannot train on it, and
    the shuffle makes it another one in each epoch.
    """
    sizes = client.num_labeled, client.num_unlabeled
    longer = max(_num_batches(size, batch_size) for size in sizes)
    parts = [islice(_cycle(size, batch_size, generator), longer) for size in sizes]
    for labeled, unlabeled in zip(*parts, strict=True):
        yield Batch(labeled, unlabeled)


def _num_batches(size: int, batch_size: int) -> int:
    lone = size % batch_size == 1
    return -(-size // batch_size) - lone


def _cycle(size: int, batch_size: int, generator: torch.Generator) -> Iterator[Tensor]:
    while _num_batches(size, batch_size):
        order = torch.randperm(size, generator=generator)
        yield from torch.split(order, batch_size)[: _num_batches(size, batch_size)]
    while True:
        yield torch.empty(0, dtype=torch.long)
