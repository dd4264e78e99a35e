"""Steps that several readers share: splitting, resizing, making an `ImageSet`."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import torch

from fedsemi.data.dataset import Dataset, ImageSet
from fedsemi.data.readers.files import Bytes

Rows = npt.NDArray[np.int64]

_CHUNK = 256
"""Images that are resized in one call."""


def image_set(images: Bytes, labels: npt.ArrayLike) -> ImageSet:
    """Wrap arrays, images as `[N, C, H, W]`."""
    return ImageSet(
        torch.from_numpy(np.require(images, requirements=["C", "W"])),
        torch.from_numpy(np.array(labels, dtype=np.int64)),
    )


def channels_first(images: Bytes) -> Bytes:
    """Turn `[N, H, W]` or `[N, H, W, C]` into `[N, C, H, W]`."""
    if images.ndim == 3:
        return images[:, None]
    return np.ascontiguousarray(images.transpose(0, 3, 1, 2))


def stratified_split(
    labels: Rows, test_counts: npt.ArrayLike, seed: int
) -> tuple[Rows, Rows]:
    """Draw `test_counts[c]` rows of each class for testing; rows keep their order."""
    rng = np.random.default_rng(seed)
    test = [
        rng.permutation(np.flatnonzero(labels == label))[:count]
        for label, count in enumerate(np.asarray(test_counts))
    ]
    is_test = np.zeros(len(labels), dtype=bool)
    is_test[np.concatenate(test)] = True
    return np.flatnonzero(~is_test), np.flatnonzero(is_test)


def fifth(labels: Rows, num_classes: int) -> Rows:
    """Return a fifth of each class's count, rounded."""
    counts = np.bincount(labels, minlength=num_classes)
    return np.rint(counts / 5).astype(np.int64)


def shrink(dataset: Dataset, image_size: int | None) -> Dataset:
    """Set the network's input side; images larger than it are averaged down.

    Smaller images stay as they are: enlarging them here would only cost memory.
    """
    if image_size is None or image_size == dataset.image_size:
        return dataset
    side = min(image_size, dataset.train.images.shape[-1])
    return dataclasses.replace(
        dataset,
        train=_resized(dataset.train, side),
        test=_resized(dataset.test, side),
        image_size=image_size,
    )


def _resized(part: ImageSet, side: int) -> ImageSet:
    if part.images.shape[-1] == side:
        return part
    images = part.images.numpy()
    chunks = [
        _averaged(images[first : first + _CHUNK], side)
        for first in range(0, len(images), _CHUNK)
    ]
    return ImageSet(torch.from_numpy(np.concatenate(chunks)), part.labels)


def _averaged(images: Bytes, side: int) -> Bytes:
    """Average each image over boxes, exactly, with one rounding at the end."""
    weights = _overlaps(images.shape[-1], side)
    sums = weights @ images.astype(np.float64) @ weights.T  # integers: no order of sums
    rounded: Bytes = np.floor(sums / images.shape[-1] ** 2 + 0.5).astype(np.uint8)
    return rounded


def _overlaps(old: int, new: int) -> npt.NDArray[np.float64]:
    """Say how much of each old pixel lies in each new one, in `1 / new` of a pixel."""
    starts = np.arange(new)[:, None] * old, np.arange(old) * new
    ends = starts[0] + old, starts[1] + new
    parts = np.minimum(*ends) - np.maximum(*starts)
    return np.array(np.maximum(parts, 0), dtype=np.float64)
