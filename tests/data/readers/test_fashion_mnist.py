"""Fashion-MNIST from files that are named as those of MNIST."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from tests.data.readers.test_mnist import NAMES, idx

from fedsemi.data.datasets import DATASETS, load
from fedsemi.data.readers import fashion_mnist
from fedsemi.errors import DataError

DEBIAN = Path("/usr/share/datasets")


def write_files(folder: Path, pack: bool = False) -> None:
    folder.mkdir(parents=True)
    shapes = [(6, 28, 28), (6,), (3, 28, 28), (3,)]
    for name, shape in zip(NAMES, shapes, strict=True):
        content = idx((np.arange(np.prod(shape)) % 10).astype(np.uint8).reshape(shape))
        if pack:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content))
        else:
            (folder / name).write_bytes(content)


@pytest.mark.parametrize("sub", ["fashion-mnist", "FashionMNIST/raw"])
def test_the_files_are_read_from_a_folder_of_their_own(
    sub: str, tmp_path: Path
) -> None:
    write_files(tmp_path / sub)
    dataset = load("fashion-mnist", tmp_path)
    assert dataset.train.images.shape == (6, 1, 28, 28)
    assert dataset.train.labels.tolist() == [0, 1, 2, 3, 4, 5]
    assert dataset.test.labels.tolist() == [0, 1, 2]
    assert dataset.class_names[9] == "Ankle boot"


def test_digits_are_not_taken_for_clothes(tmp_path: Path) -> None:
    for sub in (".", "mnist"):
        write_files(tmp_path / sub / "x")
        for name in NAMES:
            (tmp_path / sub / "x" / name).rename(tmp_path / sub / name)
    with pytest.raises(DataError, match="FS3001"):
        load("fashion-mnist", tmp_path)


def test_a_packed_file_with_another_sum_is_refused(tmp_path: Path) -> None:
    write_files(tmp_path / "fashion-mnist", pack=True)
    with pytest.raises(DataError, match=r"FS3002 .*expected 8d4fb7e6"):
        load("fashion-mnist", tmp_path)


def test_what_is_fetched_is_what_is_read() -> None:
    names = [file.name for file in fashion_mnist.OFFICIAL.files]
    assert names == [f"{name}.gz" for name in NAMES]


@pytest.mark.skipif(
    not (DEBIAN / "fashion-mnist").is_dir(),
    reason="Debian's package dataset-fashion-mnist is not installed",
)
def test_the_real_images_are_read_and_have_the_mean_that_is_stated() -> None:
    dataset = load("fashion-mnist", DEBIAN)
    assert (len(dataset.train), len(dataset.test)) == DATASETS["fashion-mnist"].counts
    assert dataset.train.labels.bincount().tolist() == [6000] * 10
    pixels = dataset.train.images.double() / 255
    assert round(float(pixels.mean()), 4) == dataset.mean[0]
    assert round(float(pixels.std(correction=0)), 4) == dataset.std[0]
