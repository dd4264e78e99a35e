import gzip
import struct

import numpy as np
import pytest

from fedsemi.data.datasets import load
from fedsemi.data.readers.mnist import read_idx
from fedsemi.errors import DataError

NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)


def idx(array):
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.tobytes()


def write_official(folder):
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    arrays = [
        rng.integers(256, size=(6, 28, 28), dtype=np.uint8),
        np.array([5, 0, 4, 1, 9, 2], dtype=np.uint8),
        rng.integers(256, size=(2, 28, 28), dtype=np.uint8),
        np.array([7, 2], dtype=np.uint8),
    ]
    for name, array in zip(NAMES, arrays, strict=True):
        (folder / name).write_bytes(idx(array))
    return arrays


@pytest.mark.parametrize("sub", [".", "mnist", "MNIST/raw"])
def test_official_files_are_read(tmp_path, sub):
    images, labels, test_images, test_labels = write_official(tmp_path / sub)
    dataset = load("mnist", tmp_path)
    assert dataset.train.images.shape == (6, 1, 28, 28)
    assert np.array_equal(dataset.train.images[:, 0].numpy(), images)
    assert dataset.train.labels.tolist() == labels.tolist()
    assert np.array_equal(dataset.test.images[:, 0].numpy(), test_images)
    assert dataset.test.labels.tolist() == test_labels.tolist()
    assert (dataset.mean, dataset.std) == ((0.1307,), (0.3081,))


def test_gzipped_files_are_read(tmp_path):
    array = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    path = tmp_path / "other-idx3-ubyte.gz"
    path.write_bytes(gzip.compress(idx(array)))
    assert np.array_equal(read_idx(path), array)


def test_a_damaged_official_archive_is_named(tmp_path):
    write_official(tmp_path)
    path = tmp_path / f"{NAMES[2]}.gz"
    path.write_bytes(gzip.compress(b"something else"))
    with pytest.raises(DataError, match=f"FS3002 .*{NAMES[2]}.gz is damaged"):
        load("mnist", tmp_path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not an idx file"),
        (b"GIF89a", "not an idx file"),
        (idx(np.zeros((2, 3), np.uint8))[:-1], "5 values where 6 are announced"),
    ],
)
def test_a_file_in_another_format_is_refused(tmp_path, content, reason):
    path = tmp_path / "x-idx3-ubyte"
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"FS3004 .*{reason}"):
        read_idx(path)


def test_a_broken_gzip_is_refused(tmp_path):
    path = tmp_path / "x-idx3-ubyte.gz"
    path.write_bytes(gzip.compress(b"x" * 1000)[:-9])
    with pytest.raises(DataError, match="FS3004"):
        read_idx(path)
