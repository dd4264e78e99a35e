import io
import tarfile

import numpy as np
import pytest

from fedsemi.data.datasets import load
from fedsemi.data.readers import files
from fedsemi.data.readers.cifar import CIFAR10_CLASSES, CIFAR100_CLASSES
from fedsemi.errors import DataError

BATCHES = (*(f"data_batch_{n}.bin" for n in range(1, 6)), "test_batch.bin")


def record(*labels, value):
    return bytes(labels) + bytes([value] * 1024 + [0] * 1024 + [255] * 1024)


def cifar10_files():
    return {name: record(n, value=10 + n) for n, name in enumerate(BATCHES)}


def cifar100_files():
    train = record(4, 99, value=1) + record(0, 3, value=2)
    return {"train.bin": train, "test.bin": record(1, 50, value=3)}


def write_folder(folder, contents):
    folder.mkdir(parents=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content)


def write_archive(path, folder, contents, monkeypatch):
    with tarfile.open(path, "w:gz") as archive:
        # Backwards: the order within the archive must not matter.
        for name in reversed(contents):
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size = len(contents[name])
            archive.addfile(entry, io.BytesIO(contents[name]))
    monkeypatch.delitem(files.CHECKSUMS, path.name)


@pytest.fixture(params=["archive", "folder"])
def place(request, tmp_path, monkeypatch):
    def put(archive, folder, contents):
        if request.param == "folder":
            write_folder(tmp_path / folder, contents)
        else:
            write_archive(tmp_path / archive, folder, contents, monkeypatch)
        return tmp_path

    return put


def test_cifar10_is_read_batch_after_batch(place):
    folder = place("cifar-10-binary.tar.gz", "cifar-10-batches-bin", cifar10_files())
    dataset = load("cifar10", folder)
    assert dataset.train.labels.tolist() == [0, 1, 2, 3, 4]
    assert dataset.test.labels.tolist() == [5]
    assert dataset.train.images[2].amax((1, 2)).tolist() == [12, 0, 255]
    assert dataset.class_names == CIFAR10_CLASSES


def test_cifar100_uses_the_fine_label(place):
    folder = place("cifar-100-binary.tar.gz", "cifar-100-binary", cifar100_files())
    dataset = load("cifar100", folder)
    assert dataset.train.labels.tolist() == [99, 3]
    assert dataset.test.labels.tolist() == [50]
    assert dataset.train.images.shape == (2, 3, 32, 32)
    assert dataset.test.images[0, :, 0, 0].tolist() == [3, 0, 255]


def test_a_missing_batch_is_named(place):
    contents = cifar10_files()
    del contents["data_batch_3.bin"]
    folder = place("cifar-10-binary.tar.gz", "cifar-10-batches-bin", contents)
    with pytest.raises(DataError, match=r"FS3004 .*data_batch_3\.bin"):
        load("cifar10", folder)


def test_a_cut_batch_is_refused(place):
    contents = cifar100_files()
    contents["train.bin"] = contents["train.bin"][:-1]
    folder = place("cifar-100-binary.tar.gz", "cifar-100-binary", contents)
    with pytest.raises(DataError, match="6147 bytes are no records of 3074 bytes"):
        load("cifar100", folder)


def test_an_impossible_label_is_refused(place):
    contents = {**cifar10_files(), "test_batch.bin": record(77, value=1)}
    folder = place("cifar-10-binary.tar.gz", "cifar-10-batches-bin", contents)
    with pytest.raises(DataError, match="FS3004 cifar10: test labels run from 77"):
        load("cifar10", folder)


def test_an_archive_with_another_sum_is_refused(tmp_path):
    (tmp_path / "cifar-10-binary.tar.gz").write_bytes(b"cut off")
    with pytest.raises(DataError, match=r"FS3002 .*its md5 is .*expected c32a1d4a"):
        load("cifar10", tmp_path)


def test_something_that_is_no_archive_is_refused(tmp_path, monkeypatch):
    monkeypatch.delitem(files.CHECKSUMS, "cifar-10-binary.tar.gz")
    (tmp_path / "cifar-10-binary.tar.gz").write_bytes(b"cut off")
    with pytest.raises(DataError, match="FS3004"):
        load("cifar10", tmp_path)


def test_the_pickled_version_is_not_opened_and_the_message_says_which_to_get(tmp_path):
    (tmp_path / "cifar-10-python.tar.gz").touch()
    with pytest.raises(DataError, match="the binary version, not the pickled"):
        load("cifar10", tmp_path)


def test_class_names_are_in_the_official_alphabetical_order():
    assert len(CIFAR100_CLASSES) == 100
    assert list(CIFAR100_CLASSES) == sorted(CIFAR100_CLASSES)
    assert np.unique(CIFAR10_CLASSES).tolist() == list(CIFAR10_CLASSES)
