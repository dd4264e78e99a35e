"""Data sets inside a Python package: scikit-learn's digits, ELPV solar cells."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib.resources import files
from os import cpu_count
from pathlib import Path

import numpy as np
from PIL import Image

from fedsemi.data.dataset import Dataset, channel_statistics
from fedsemi.data.readers.common import fifth, image_set, shrink, stratified_split
from fedsemi.data.readers.files import Bytes, kept
from fedsemi.data.readers.source import Request
from fedsemi.errors import DataError

DIGITS_CLASSES = tuple("0123456789")
ELPV_CLASSES = (
    "mono functional",
    "mono defective",
    "poly functional",
    "poly defective",
)
ELPV_SIZE = 48

_SPLIT_SEED = 0  # neither has an official test part; ours is the same for everyone


def read_digits(request: Request) -> Dataset:
    """Read the 1,797 handwritten digits of 8 x 8 pixels; every fifth is for testing."""
    from sklearn.datasets import load_digits  # slow to import, and only needed here

    raw = load_digits()
    images = np.rint(raw.images * (255 / 16)).astype(np.uint8)[:, None]
    dataset = _split("digits", images, raw.target, DIGITS_CLASSES, "scikit-learn")
    return shrink(dataset, request.image_size)


def read_elpv(request: Request) -> Dataset:
    """Read 2,624 electroluminescence images of solar cells: Buerhop-Lutz et al., 2018.

    A cell counts as defective from a defect probability of 0.5.
    """
    return _elpv(request.image_size or ELPV_SIZE)


@lru_cache(maxsize=2)
def _elpv(image_size: int) -> Dataset:
    try:
        folder = Path(str(files("elpv_dataset"))) / "data"
    except ModuleNotFoundError as error:
        raise DataError(
            "data set 'elpv' needs the package elpv-dataset, which is not installed; "
            'run: pip install "fedsemi[elpv]"',
            "FS3001",
        ) from error
    table = (folder / "labels.csv").read_bytes()
    rows = [line.split() for line in table.decode().splitlines() if line.strip()]
    paths = [folder / name for name, _, _ in rows]
    labels = [2 * (kind == "poly") + (float(odds) >= 0.5) for _, odds, kind in rows]
    sha256 = hashlib.sha256(table).hexdigest()
    images = kept(f"elpv-{image_size}-{sha256}", lambda: _cells(paths, image_size))
    return _split("elpv", images, np.array(labels), ELPV_CLASSES, "elpv-dataset")


def _cells(paths: list[Path], side: int) -> Bytes:
    def one(path: Path) -> Bytes:
        with Image.open(path, formats=["PNG"]) as cell:
            # Averaging over areas keeps thin cracks as gray, where sampling loses them.
            small = cell.convert("L").resize((side, side), Image.Resampling.BOX)
        return np.asarray(small)[None]

    with ThreadPoolExecutor(cpu_count()) as pool:
        return np.stack(list(pool.map(one, paths)))


def _split(
    name: str,
    images: Bytes,
    labels: np.ndarray[tuple[int], np.dtype[np.int64]],
    class_names: tuple[str, ...],
    package: str,
) -> Dataset:
    counts = fifth(labels, len(class_names))
    train, test = stratified_split(labels, counts, _SPLIT_SEED)
    part = image_set(images[train], labels[train])
    mean, std = channel_statistics(part.images)
    return Dataset(
        name=name,
        train=part,
        test=image_set(images[test], labels[test]),
        class_names=class_names,
        mean=mean,
        std=std,
        image_size=images.shape[-1],
        origin=f"Python package {package}",
    )
