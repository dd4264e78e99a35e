import numpy as np
import pytest
import torch
from scipy.io import savemat

from fedsemi.data.dataset import Dataset, ImageSet
from fedsemi.data.datasets import load
from fedsemi.data.readers import files
from fedsemi.data.readers.common import shrink
from fedsemi.data.readers.svhn import FILES
from fedsemi.errors import DataError


@pytest.fixture(autouse=True)
def unlisted(monkeypatch, tmp_path):
    """Small files cannot have the official sums; and nothing is kept at home."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in FILES:
        monkeypatch.delitem(files.CHECKSUMS, name)


def write(path, labels, seed=0):
    size = (32, 32, 3, len(labels))
    images = np.random.default_rng(seed).integers(256, size=size, dtype=np.uint8)
    savemat(path, {"X": images, "y": np.array(labels, dtype=np.uint8)[:, None]})
    return images


@pytest.mark.parametrize("sub", ["", "svhn"])
def test_official_files_are_read_and_ten_means_zero(tmp_path, sub):
    (tmp_path / sub).mkdir(exist_ok=True)
    images = write(tmp_path / sub / "train_32x32.mat", [1, 9, 10, 2])
    write(tmp_path / sub / "test_32x32.mat", [10, 3])
    dataset = load("svhn", tmp_path)
    assert dataset.train.labels.tolist() == [1, 9, 0, 2]
    assert dataset.test.labels.tolist() == [0, 3]
    # Row 2, channel 1, line 5, column 7.
    assert dataset.train.images[2, 1, 5, 7] == images[5, 7, 1, 2]


def test_half_a_data_set_counts_as_missing(tmp_path):
    write(tmp_path / "train_32x32.mat", [1, 2])
    with pytest.raises(DataError, match="FS3001 data set 'svhn' was not found"):
        load("svhn", tmp_path)


def test_a_file_without_images_is_refused(tmp_path):
    savemat(tmp_path / "train_32x32.mat", {"y": np.array([[1]])})
    write(tmp_path / "test_32x32.mat", [1])
    with pytest.raises(DataError, match=r"FS3004 .*train_32x32\.mat cannot be read"):
        load("svhn", tmp_path)


def test_a_file_that_is_no_matlab_file_is_refused(tmp_path):
    for name in ("train_32x32.mat", "test_32x32.mat"):
        (tmp_path / name).write_bytes(b"<html>not found</html>" * 20)
    with pytest.raises(DataError, match=r"FS3004 .*train_32x32\.mat"):
        load("svhn", tmp_path)


def test_images_can_be_averaged_down_but_are_never_enlarged(tmp_path):
    images = write(tmp_path / "train_32x32.mat", [1, 2])
    write(tmp_path / "test_32x32.mat", [3])
    small = load("svhn", tmp_path, image_size=16)
    assert small.image_size == 16
    assert small.train.images.shape == (2, 3, 16, 16)
    mean = images[:2, :2, 0, 0].mean()
    assert abs(float(small.train.images[0, 0, 0, 0]) - mean) <= 1
    large = load("svhn", tmp_path, image_size=64)
    assert large.image_size == 64
    assert large.train.images.shape[-1] == 32


def test_averaging_down_weighs_pixels_by_the_part_that_lies_inside():
    part = ImageSet(
        torch.tensor([[[[0, 30, 60], [0, 30, 60], [90, 90, 90]]]], dtype=torch.uint8),
        torch.tensor([0]),
    )
    dataset = Dataset("svhn", part, part, ("0", "1"), (0.5,), (0.5,), 3)
    small = shrink(dataset, 2).train.images
    # A corner holds one pixel, two halves and a quarter, of 2.25 in all:
    # (0 + 30 / 2 + 0 / 2 + 30 / 4) / 2.25 = 10, and so on.
    assert small.tolist() == [[[[10, 50], [63, 77]]]]
