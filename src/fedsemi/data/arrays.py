"""Images of a Python program: arrays and tensors of the usual shapes, made alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fedsemi.data.dataset import UNKNOWN, Dataset, ImageSet, channel_statistics
from fedsemi.data.partition import ClientIndex, Partition
from fedsemi.errors import DataError

ARRAYS = "arrays"
"""The name of the data set that a program had in memory."""

_CHANNELS = (1, 3)


def as_images(value: Any, what: str = "images") -> Tensor:
    """Return images as uint8 `[N, C, H, W]`, whatever usual shape they came in.

    Args:
        value: Array or tensor, `N×H×W`, `N×H×W×C` or `N×C×H×W`, of 1 or 3 channels;
            uint8, or floats from 0 to 1.
        what: How to call it in an error.
    """
    images = _tensor(value, what)
    if images.ndim == 3:
        return _bytes(images[:, None], what)
    if images.ndim != 4:
        raise _wrong(f"{what} has the shape {_shape(images)}")
    first, last = images.shape[1] in _CHANNELS, images.shape[3] in _CHANNELS
    if first == last:
        reason = "both could be channels" if first else "none has 1 or 3 channels"
        raise _wrong(
            f"{what} has the shape {_shape(images)}, of whose second and last {reason}"
        )
    return _bytes(images if first else images.permute(0, 3, 1, 2), what)


def as_labels(value: Any, num_images: int, what: str = "labels") -> Tensor:
    """Return labels as int64 `[N]`, one for each image; -1 stands for none."""
    labels = _tensor(value, what)
    whole = not labels.dtype.is_floating_point and labels.dtype != torch.bool
    if labels.ndim != 1 or not whole:
        raise DataError(
            f"{what} has the shape {_shape(labels)} and the type {labels.dtype}; give "
            "one whole number for each image, from 0, or -1 for an image without label",
            code="FS3041",
        )
    if len(labels) != num_images:
        raise DataError(
            f"{what} has {len(labels)} entries for {num_images} images", code="FS3041"
        )
    if num_images and int(labels.min()) < UNKNOWN:
        raise DataError(f"{what} has a label {int(labels.min())}", code="FS3041")
    return labels.to(torch.int64)


def in_memory(
    train: ImageSet,
    test: ImageSet,
    class_names: Sequence[str] | None = None,
    image_size: int | None = None,
) -> Dataset:
    """Make a data set of what a program has in memory.

    Args:
        train: What the sites own.
        test: All of it labeled.
        class_names: In the order of the labels; their numbers if None.
        image_size: Side of the network's input; the images' longer one if None.
    """
    for part in (train, test):
        if part.images.shape[1:] != train.images.shape[1:]:
            raise _wrong(
                f"training images are {_shape(train.images[0])} and test images "
                f"{_shape(part.images[0])}"
            )
    top = max(int(train.labels.max()), int(test.labels.max()))
    names = tuple(class_names or (str(label) for label in range(top + 1)))
    if not 2 <= len(names) > top:
        raise DataError(
            f"labels go up to {top} and there are {len(names)} classes; name all of "
            "them in class_names, two at least",
            code="FS3041",
        )
    mean, std = channel_statistics(train.images)
    if min(std) == 0:
        raise DataError("a channel is the same in all pixels of all images", "FS3041")
    size = image_size or max(train.images.shape[2:])
    return Dataset(ARRAYS, train, test, names, mean, std, size, origin="memory")


def image_set(what: str, images: Any, labels: Any) -> ImageSet:
    """Join images and labels; `what` names them in an error."""
    pixels = as_images(images, f"{what}, images")
    return ImageSet(pixels, as_labels(labels, len(pixels), f"{what}, labels"))


def by_site(parts: Sequence[ImageSet]) -> tuple[ImageSet, Partition]:
    """Put the images of all sites into one set; say who owns which rows."""
    clients, begin = [], 0
    for part in parts:
        rows = np.arange(begin, begin + len(part))
        known = (part.labels != UNKNOWN).numpy()
        clients.append(ClientIndex(rows[known], rows[~known]))
        begin += len(part)
    images = torch.cat([part.images for part in parts])
    labels = torch.cat([part.labels for part in parts])
    return ImageSet(images, labels), Partition(tuple(clients))


def _tensor(value: Any, what: str) -> Tensor:
    if isinstance(value, Tensor):
        return value.detach().cpu()
    try:
        # A copy: torch does not take arrays that are read-only or run backwards.
        return torch.from_numpy(np.array(value))
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{what} is no array of numbers ({' '.join(str(error).split())[:120]}); "
            "give a numpy array or a tensor",
            code="FS3041",
        ) from None


def _bytes(images: Tensor, what: str) -> Tensor:
    if images.dtype == torch.uint8:
        return images.contiguous()
    if not images.dtype.is_floating_point:
        raise _wrong(f"{what} has the type {images.dtype}")
    if images.numel() and not (images.min() >= 0 and images.max() <= 1):
        low, high = images.min().item(), images.max().item()
        raise _wrong(f"{what} has values from {low:g} to {high:g}")
    return (images * 255).round().to(torch.uint8).contiguous()


def _wrong(found: str) -> DataError:
    return DataError(
        f"{found}; images are N×H×W, N×H×W×C or N×C×H×W with 1 or 3 channels, uint8 or "
        "floats from 0 to 1, and all of one size",
        code="FS3041",
    )


def _shape(value: Tensor) -> str:
    return "×".join(str(length) for length in value.shape) or "()"
