"""MNIST: LeCun, Cortes and Burges, 1998. Reads the idx format, gzipped or not."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fedsemi.data.dataset import Dataset
from fedsemi.data.readers.common import image_set, shrink
from fedsemi.data.readers.compact import read_compact
from fedsemi.data.readers.files import (
    Bytes,
    known_sums,
    locate,
    locate_all,
    malformed,
    verify,
)
from fedsemi.data.readers.source import Official, OfficialFile, Request

CLASS_NAMES = tuple("0123456789")
FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
    "mnist.npz",
)
MEAN, STD = (0.1307,), (0.3081,)
OFFICIAL = Official(
    "mnist",
    tuple(
        OfficialFile(
            f"https://ossci-datasets.s3.amazonaws.com/mnist/{name}", known_sums(name)
        )
        for name in FILES[:-1]
    ),
)

_SUB = ("mnist", "MNIST", "MNIST/raw")


def read(request: Request) -> Dataset | None:
    """Read the four official files, else the compact file."""
    found = find(request.folder)
    if len(found) > 1:
        images, labels, test_images, test_labels = (read_idx(path) for path in found)
        train = image_set(images[:, None], labels)
        test = image_set(test_images[:, None], test_labels)
        origin = str(found[0].parent)
    elif found:
        train, test = read_compact(found[0]).parts()
        origin = str(found[0])
    else:
        return None
    dataset = Dataset("mnist", train, test, CLASS_NAMES, MEAN, STD, 28, origin=origin)
    return shrink(dataset, request.image_size)


def find(folder: Path) -> tuple[Path, ...]:
    """Return the official files, packed or not, else the compact one, else nothing."""
    official = [
        locate(folder, name, name.removesuffix(".gz"), inside=_SUB)
        for name in FILES[:-1]
    ]
    found = tuple(path for path in official if path)
    if len(found) == len(official):
        return found
    return locate_all(folder, FILES[-1:], _SUB)


def read_idx(path: Path, sums: Sequence[str] | None = None) -> Bytes:
    """Read one file of unsigned bytes: two zeros, type 8, rank, sizes, then values.

    Args:
        path: The file.
        sums: Any of these it must have; None takes those that are known by its name.
    """
    verify(path, sums)
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise malformed(path, str(error)) from error
    if len(content) < 4 or content[:3] != b"\x00\x00\x08":
        raise malformed(path, "not an idx file of unsigned bytes")
    rank = content[3]
    start = 4 + 4 * rank
    shape = np.frombuffer(content[4:start], dtype=">u4").astype(np.int64)
    if len(content) - start != shape.prod():
        raise malformed(
            path, f"{len(content) - start} values where {shape.prod()} are announced"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)
