"""CIFAR-100-LT: class sizes fall exponentially (Cao et al., NeurIPS 2019).

Classes keep floor(500 * 100 ** (-c / 99)) training images: 500 down to 5, 10,847 in
all. The test part stays balanced.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fedsemi.data.dataset import Dataset
from fedsemi.data.published import read_published
from fedsemi.data.readers.cifar import read_cifar100
from fedsemi.data.readers.source import Request
from fedsemi.errors import DataError

Rows = npt.NDArray[np.int64]

LARGEST = 500
IMBALANCE = 100


def read(request: Request) -> Dataset | None:
    """Cut the long tail from CIFAR-100; a published index file may name the rows."""
    whole = read_cifar100(dataclasses.replace(request, split="image"))
    if whole is None:
        return None
    labels = whole.train.labels.numpy()
    if request.split == "image":
        rows = first_of_each(labels, profile(whole.num_classes))
    else:
        rows = _published_rows(Path(request.split), len(labels))
    return dataclasses.replace(whole, name="cifar100-lt", train=whole.train.take(rows))


def profile(num_classes: int) -> Rows:
    """Return the number of images that each class keeps."""
    steps = np.arange(num_classes) / (num_classes - 1)
    # The last class is 500 / 100 exactly; a rounding error must not make it 4.
    return np.floor(LARGEST * IMBALANCE**-steps + 1e-9).astype(np.int64)


def first_of_each(labels: Rows, counts: Rows) -> Rows:
    """Return the first `counts[c]` rows of each class, in the order of the file."""
    rows = [np.flatnonzero(labels == c)[:count] for c, count in enumerate(counts)]
    short = [c for c, own in enumerate(rows) if len(own) < counts[c]]
    if short:
        c = short[0]
        raise DataError(
            f"class {c} of CIFAR-100 has {len(rows[c])} training images here, but the "
            f"long-tailed cut needs {counts[c]}; is the file complete?",
            "FS3004",
        )
    return np.sort(np.concatenate(rows))


def _published_rows(path: Path, available: int) -> Rows:
    rows = read_published(path).train_rows
    if rows is None or rows.max(initial=-1) >= available or rows.min(initial=0) < 0:
        raise DataError(
            f"{path} does not list rows of the {available} training images; published "
            "lists need the official CIFAR-100 files",
            "FS3005",
        )
    return rows
