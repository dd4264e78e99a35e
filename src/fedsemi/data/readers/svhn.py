"""SVHN, cropped digits: Netzer et al., Reading Digits in Natural Images, 2011."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fedsemi.data.dataset import Dataset, ImageSet
from fedsemi.data.readers.common import image_set, shrink
from fedsemi.data.readers.compact import read_compact
from fedsemi.data.readers.files import (
    Bytes,
    kept,
    known_sums,
    locate_all,
    malformed,
    verify,
)
from fedsemi.data.readers.source import Official, OfficialFile, Request

CLASS_NAMES = tuple("0123456789")
FILES = ("train_32x32.mat", "test_32x32.mat", "svhn.npz")
MEAN = (0.4376821, 0.4437697, 0.47280442)
STD = (0.19803012, 0.20101562, 0.19703614)
OFFICIAL = Official(
    "svhn",
    tuple(
        OfficialFile(f"http://ufldl.stanford.edu/housenumbers/{name}", known_sums(name))
        for name in FILES[:-1]
    ),
)

_SUB = ("svhn",)


def read(request: Request) -> Dataset | None:
    """Read the official MATLAB files, else the compact file."""
    match find(request.folder):
        case (train_file, test_file):
            train, test = read_mat(train_file), read_mat(test_file)
            origin = f"{train_file}, {test_file}"
        case (compact_file,):
            train, test = read_compact(compact_file).parts()
            origin = f"{compact_file} (a compact subset)"
        case _:
            return None
    dataset = Dataset("svhn", train, test, CLASS_NAMES, MEAN, STD, 32, origin=origin)
    return shrink(dataset, request.image_size)


def find(folder: Path) -> tuple[Path, ...]:
    """Return both official files, else the compact one, else nothing."""
    return locate_all(folder, FILES[:2], _SUB) or locate_all(folder, FILES[2:], _SUB)


def read_mat(path: Path) -> ImageSet:
    """Read one file: `X` is `[32, 32, 3, N]`, and `y` calls the digit zero 10."""
    from scipy.io import loadmat  # slow to import, and only needed here

    sha256 = verify(path)
    try:
        labels = loadmat(path, variable_names=["y"])["y"].reshape(-1) % 10

        def decode() -> Bytes:
            images: Bytes = loadmat(path, variable_names=["X"])["X"]
            return np.ascontiguousarray(images.transpose(3, 2, 0, 1))

        return image_set(kept(f"{path.stem}-{sha256}", decode), labels)
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise malformed(path, f"not a cropped-digit file of SVHN ({error})") from error
