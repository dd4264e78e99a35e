import hashlib
import pickle

import numpy as np
import pytest
import torch

from fedsemi.data.dataset import Dataset, ImageSet, channel_statistics
from fedsemi.errors import DataError


def make_dataset(num_train=40, num_test=20, num_classes=4, **changes):
    def part(size, offset):
        pixels = torch.arange(size * 3 * 2 * 2) + offset
        images = (pixels % 251).to(torch.uint8).reshape(size, 3, 2, 2)
        return ImageSet(images, torch.arange(size) % num_classes)

    settings = {
        "name": "toy",
        "train": part(num_train, 0),
        "test": part(num_test, 7),
        "class_names": tuple("abcdefgh"[:num_classes]),
        "mean": (0.5,) * 3,
        "std": (0.5,) * 3,
        "image_size": 2,
    }
    return Dataset(**{**settings, **changes})


def test_classes_and_channels_are_read_off_the_content():
    dataset = make_dataset()
    assert dataset.num_classes == 4
    assert dataset.channels == 3
    assert len(dataset.train) == 40


def test_fingerprint_is_the_same_for_equal_content():
    assert make_dataset().sha256 == make_dataset(name="other", mean=(0.1,) * 3).sha256


def test_fingerprint_changes_with_one_pixel_one_label_or_one_class_name():
    original = make_dataset()
    pixel, label = make_dataset(), make_dataset()
    pixel.test.images[3, 1, 0, 0] += 1
    label.train.labels[0] = 3
    named = make_dataset(class_names=("a", "b", "c", "z"))
    prints = {d.sha256 for d in (original, pixel, label, named)}
    assert len(prints) == 4


def test_fingerprint_does_not_depend_on_memory_layout():
    dataset = make_dataset()
    strided = dataset.train.images.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
    again = make_dataset(train=ImageSet(strided, dataset.train.labels))
    assert again.sha256 == dataset.sha256


def test_fingerprint_is_computed_once(monkeypatch):
    dataset = make_dataset()
    first = dataset.sha256
    monkeypatch.setattr(hashlib, "sha256", None)
    assert dataset.sha256 == first


def test_a_dataset_survives_pickling():
    dataset = make_dataset()
    assert pickle.loads(pickle.dumps(dataset)).sha256 == dataset.sha256


def test_subset_keeps_rows_groups_and_metadata_together():
    dataset = make_dataset(
        groups=torch.arange(40),
        test_metadata={"row": tuple(str(row) for row in range(20))},
    )
    part = dataset.subset(10, 8, seed=3)
    assert len(part.train) == 10
    assert len(part.test) == 8
    assert torch.equal(part.train.images, dataset.train.images[part.groups])
    rows = [int(row) for row in part.test_metadata["row"]]
    assert torch.equal(part.test.labels, dataset.test.labels[rows])
    assert rows == sorted(set(rows))


def test_subset_keeps_every_class_when_it_has_room():
    labels = torch.zeros(1000, dtype=torch.int64)
    labels[5], labels[6], labels[7] = 1, 2, 3
    images = torch.zeros(1000, 3, 2, 2, dtype=torch.uint8)
    dataset = make_dataset(train=ImageSet(images, labels))
    for seed in range(5):
        part = dataset.subset(4, None, seed)
        assert part.train.labels.unique().tolist() == [0, 1, 2, 3]
    assert len(dataset.subset(2, None, 0).train) == 2


def test_subset_has_the_natural_class_mix():
    labels = (torch.arange(10_000) % 10 == 0).long()
    images = torch.zeros(10_000, 1, 1, 1, dtype=torch.uint8)
    dataset = make_dataset(train=ImageSet(images, labels))
    share = dataset.subset(2000, None, 0).train.labels.float().mean()
    assert 0.08 < share < 0.12


def test_subset_is_drawn_from_its_seed():
    dataset = make_dataset()
    assert dataset.subset(9, 9, 1).sha256 == dataset.subset(9, 9, 1).sha256
    assert dataset.subset(9, 9, 1).sha256 != dataset.subset(9, 9, 2).sha256


def test_no_limit_or_a_large_one_keeps_everything():
    dataset = make_dataset()
    assert dataset.subset(None, 999, seed=0).sha256 == dataset.sha256


def test_a_limit_of_nothing_is_refused():
    with pytest.raises(DataError, match="FS3005 a limit of 0 images leaves nothing"):
        make_dataset().subset(0, None, seed=0)


def test_images_and_labels_must_fit():
    images = torch.zeros(3, 1, 2, 2, dtype=torch.uint8)
    with pytest.raises(DataError, match="3 images, but 2 labels"):
        ImageSet(images, torch.zeros(2, dtype=torch.int64))
    with pytest.raises(DataError, match="uint8"):
        ImageSet(images.float(), torch.zeros(3, dtype=torch.int64))
    with pytest.raises(DataError, match="int64"):
        ImageSet(images, torch.zeros(3))


def test_labels_beyond_the_classes_and_missing_groups_are_refused():
    with pytest.raises(DataError, match="labels run from 0 to 3, but there are 2"):
        make_dataset(class_names=("a", "b"))
    with pytest.raises(DataError, match="39 groups for 40"):
        make_dataset(groups=torch.arange(39))


def test_channel_statistics_match_numpy():
    images = torch.randint(0, 256, (50, 3, 4, 4), dtype=torch.uint8)
    mean, std = channel_statistics(images)
    values = images.numpy() / 255
    np.testing.assert_allclose(mean, values.mean((0, 2, 3)), rtol=1e-6)
    np.testing.assert_allclose(std, values.std((0, 2, 3)), rtol=1e-6)
