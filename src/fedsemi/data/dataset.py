"""A labeled image data set in memory: a training and a test part."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from fedsemi.errors import DataError

UNKNOWN = -1
"""The label of a training image that nobody has labeled."""


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Images and their classes, row by row.

    Attributes:
        images: uint8, `[N, C, H, W]`.
        labels: int64, `[N]`; `UNKNOWN` where real sites have none.
    """

    images: Tensor
    labels: Tensor

    def __post_init__(self) -> None:
        if self.images.dtype != torch.uint8 or self.images.ndim != 4:
            raise DataError(
                "images must be uint8 [N, C, H, W], not "
                f"{self.images.dtype} {list(self.images.shape)}",
                "FS3004",
            )
        if self.labels.dtype != torch.int64 or self.labels.ndim != 1:
            raise DataError(
                "labels must be int64 [N], not "
                f"{self.labels.dtype} {list(self.labels.shape)}",
                "FS3004",
            )
        if len(self.images) != len(self.labels):
            raise DataError(
                f"{len(self.images)} images, but {len(self.labels)} labels", "FS3004"
            )

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: npt.NDArray[np.int64]) -> ImageSet:
        """Return the given rows, in the order given."""
        index = torch.as_tensor(rows, dtype=torch.int64)
        return ImageSet(self.images[index], self.labels[index])


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set as the literature uses it.

    Stored images may be larger than `image_size` (ISIC keeps room for random crops) or
    smaller (a compact file read for a bigger network): views resize, always.

    Attributes:
        name: The key in `DATASETS`.
        train: What the sites share out among themselves.
        test: What the global model is measured on.
        class_names: In the order of the labels.
        mean: Of each channel, of values in [0, 1].
        std: Of each channel, of values in [0, 1].
        image_size: The side of the network's input.
        groups: int64 `[N_train]`; rows of one group show one object, e.g. one lesion.
        test_metadata: A column of `N_test` words for each subgroup report.
        origin: The file that was read, for the record of a run.
        test_groups: int64 `[N_test]`; the same for test images, numbered by itself.
    """

    name: str
    train: ImageSet
    test: ImageSet
    class_names: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    image_size: int
    groups: Tensor | None = None
    test_metadata: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    origin: str = ""
    test_groups: Tensor | None = None

    def __post_init__(self) -> None:
        for part, images in (("training", self.train), ("test", self.test)):
            labels = images.labels
            lowest = UNKNOWN if part == "training" else 0
            if len(labels) and not (
                lowest <= int(labels.min()) <= int(labels.max()) < self.num_classes
            ):
                raise DataError(
                    f"{self.name}: {part} labels run from {int(labels.min())} to "
                    f"{int(labels.max())}, but there are {self.num_classes} classes",
                    "FS3004",
                )
        if self.groups is not None and len(self.groups) != len(self.train):
            raise DataError(
                f"{self.name}: {len(self.groups)} groups for {len(self.train)} "
                "training images",
                "FS3004",
            )

    @property
    def num_classes(self) -> int:
        """How many classes there are, also those without an image."""
        return len(self.class_names)

    @property
    def channels(self) -> int:
        """1 for gray images, 3 for color."""
        return self.train.images.shape[1]

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of both parts' pixels and labels and of the class names."""
        digest = hashlib.sha256()
        for part in (self.train, self.test):
            for tensor in (part.images, part.labels):
                array = np.ascontiguousarray(tensor.numpy())
                # The shape keeps two reshapes of the same bytes apart.
                digest.update(f"{array.dtype.str}{array.shape}".encode())
                digest.update(array.data)
        digest.update("\n".join(self.class_names).encode())
        return digest.hexdigest()

    def subset(
        self, train_limit: int | None, test_limit: int | None, seed: int
    ) -> Dataset:
        """Return a random part with the natural class mix.

        A limit that reaches the number of classes keeps every class; rows keep their
        order.

        Args:
            train_limit: At most this many training images; None keeps all.
            test_limit: The same for the test images.
            seed: Of the draw.
        """
        train = _draw(self.train.labels, train_limit, np.random.default_rng([seed, 0]))
        test = _draw(self.test.labels, test_limit, np.random.default_rng([seed, 1]))
        return replace(
            self,
            train=self.train.take(train),
            test=self.test.take(test),
            groups=_rows(self.groups, train),
            test_groups=_rows(self.test_groups, test),
            test_metadata={
                column: tuple(words[row] for row in test)
                for column, words in self.test_metadata.items()
            },
        )


def channel_statistics(
    images: Tensor,
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the mean and the standard deviation of each channel, of [0, 1] values."""
    # Counting the 256 values is exact and needs no floating-point copy of the images.
    values = torch.arange(256, dtype=torch.float64) / 255
    means, deviations = [], []
    for channel in range(images.shape[1]):
        pixels = images[:, channel].reshape(-1).to(torch.int64)
        share = torch.bincount(pixels, minlength=256) / pixels.numel()
        mean = float((share * values).sum())
        means.append(mean)
        deviations.append(float((share * (values - mean) ** 2).sum()) ** 0.5)
    return tuple(means), tuple(deviations)


def _rows(groups: Tensor | None, rows: npt.NDArray[np.int64]) -> Tensor | None:
    return None if groups is None else groups[torch.from_numpy(rows)]


def _draw(
    labels: Tensor, limit: int | None, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    if limit is not None and limit < 1:
        raise DataError(f"a limit of {limit} images leaves nothing", "FS3005")
    if limit is None or limit >= len(labels):
        return np.arange(len(labels))
    order = rng.permutation(len(labels))
    # The first row of each class in random order: a fair draw of one per class.
    _, first = np.unique(labels.numpy()[order], return_index=True)
    if len(first) <= limit:
        order = np.concatenate([order[first], np.delete(order, first)])
    return np.sort(order[:limit])
