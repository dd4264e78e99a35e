import pickle

import numpy as np
import pytest

from fedsemi.data.datasets import load
from fedsemi.data.readers.long_tail import first_of_each, profile
from fedsemi.errors import DataError


def write_cifar100(folder, per_class):
    folder = folder / "cifar-100-binary"
    folder.mkdir()
    labels = np.tile(np.arange(100, dtype=np.uint8), per_class)
    records = np.zeros((len(labels), 3074), dtype=np.uint8)
    records[:, 1] = labels
    (folder / "train.bin").write_bytes(records.tobytes())
    (folder / "test.bin").write_bytes(records[:100].tobytes())


def test_profile_is_the_literatures():
    counts = profile(100).tolist()
    assert sum(counts) == 10_847
    assert counts[:5] == [500, 477, 455, 434, 415]
    assert counts[-5:] == [6, 5, 5, 5, 5]


def test_first_rows_of_each_class_are_kept_in_order():
    rows = first_of_each(np.array([1, 0, 1, 0, 0, 1]), np.array([2, 1]))
    assert rows.tolist() == [0, 1, 3]


def test_the_cut_has_the_profile_and_a_balanced_test_part(tmp_path):
    write_cifar100(tmp_path, per_class=500)
    dataset = load("cifar100-lt", tmp_path)
    assert dataset.name == "cifar100-lt"
    assert len(dataset.train) == 10_847
    assert dataset.train.labels.bincount().tolist() == profile(100).tolist()
    assert dataset.test.labels.bincount().tolist() == [1] * 100


def test_too_few_images_are_said(tmp_path):
    write_cifar100(tmp_path, per_class=3)
    with pytest.raises(DataError, match=r"class 0 of CIFAR-100 has 3 .* needs 500"):
        load("cifar100-lt", tmp_path)


def test_a_published_list_names_the_rows(tmp_path):
    write_cifar100(tmp_path, per_class=2)
    index = tmp_path / "lt.pth"
    index.write_bytes(pickle.dumps(({0: [0], 1: [1, 2]}, [103, 4, 199])))
    dataset = load("cifar100-lt", tmp_path, split=str(index))
    assert dataset.train.labels.tolist() == [3, 4, 99]


def test_a_published_list_of_other_rows_is_refused(tmp_path):
    write_cifar100(tmp_path, per_class=2)
    index = tmp_path / "lt.pth"
    index.write_bytes(pickle.dumps(({0: [0]}, [200])))
    with pytest.raises(DataError, match=r"FS3005 .*need the official CIFAR-100 files"):
        load("cifar100-lt", tmp_path, split=str(index))
