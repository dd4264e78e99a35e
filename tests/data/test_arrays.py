"""Arrays and tensors of the usual shapes become one kind of image."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fedsemi.data.arrays import as_images, as_labels, by_site, in_memory
from fedsemi.data.dataset import ImageSet
from fedsemi.errors import DataError

GREY = np.arange(2 * 4 * 5, dtype=np.uint8).reshape(2, 4, 5)


def test_grey_images_get_a_channel() -> None:
    assert as_images(GREY).shape == (2, 1, 4, 5)


def test_channels_are_found_where_they_are() -> None:
    color = np.stack([GREY, GREY + 1, GREY + 2], axis=-1)
    last, first = as_images(color), as_images(color.transpose(0, 3, 1, 2))
    assert last.shape == (2, 3, 4, 5) and torch.equal(last, first)
    assert torch.equal(last[:, 1], torch.from_numpy(GREY + 1))


def test_floats_from_zero_to_one_become_bytes() -> None:
    images = as_images(np.array([[[0.0, 0.5, 1.0]]]))
    assert images.flatten().tolist() == [0, 128, 255]
    assert torch.equal(as_images(as_images(GREY) / 255), as_images(GREY))


def test_tensors_read_only_and_reversed_arrays_are_taken() -> None:
    locked = GREY.copy()
    locked.flags.writeable = False
    assert torch.equal(as_images(locked), as_images(torch.from_numpy(GREY)))
    assert torch.equal(as_images(GREY[:, ::-1]), as_images(GREY).flip(2))


@pytest.mark.parametrize(
    ("images", "part"),
    [
        (GREY[0], "shape 4×5"),
        (np.zeros((2, 4, 8, 8), np.uint8), "none has 1 or 3 channels"),
        (np.zeros((2, 3, 8, 3), np.uint8), "both could be channels"),
        (GREY.astype(np.int64), "type torch.int64"),
        (GREY.astype(np.float32), "values from 0 to 39"),
        (np.full((2, 4, 5), np.nan), "values from nan"),
        ([["a"], ["b"]], "no array of numbers"),
    ],
)
def test_what_is_no_image_is_refused_in_one_line(images, part: str) -> None:
    with pytest.raises(DataError, match=part) as error:
        as_images(images, "unlabeled[2]")
    assert error.value.code == "FS3041" and "\n" not in str(error.value)
    assert "unlabeled[2]" in str(error.value)


@pytest.mark.parametrize(
    ("labels", "part"),
    [
        ([0.0, 1.0], "one whole number"),
        (np.eye(2, dtype=int), "shape 2×2"),
        ([True, False], "torch.bool"),
        ([0, 1, 2], "3 entries for 2 images"),
        ([0, -2], "label -2"),
    ],
)
def test_what_is_no_label_is_refused_in_one_line(labels, part: str) -> None:
    with pytest.raises(DataError, match=part) as error:
        as_labels(labels, 2)
    assert error.value.code == "FS3041"


def images_of(count: int, *labels: int) -> ImageSet:
    generator = torch.Generator().manual_seed(count)
    pixels = torch.randint(256, (count, 1, 6, 4), generator=generator)
    return ImageSet(pixels.to(torch.uint8), torch.tensor(labels))


def test_a_site_may_have_labels_for_a_part_of_its_images() -> None:
    train, partition = by_site([images_of(3, 0, -1, 1), images_of(2, -1, -1)])
    assert train.labels.tolist() == [0, -1, 1, -1, -1]
    first, second = partition.clients
    assert (first.labeled.tolist(), first.unlabeled.tolist()) == ([0, 2], [1])
    assert (second.labeled.tolist(), second.unlabeled.tolist()) == ([], [3, 4])


def test_classes_are_numbered_and_the_input_is_as_large_as_the_images() -> None:
    dataset = in_memory(images_of(2, 0, -1), images_of(2, 1, 2))
    assert dataset.class_names == ("0", "1", "2")
    assert dataset.image_size == 6


@pytest.mark.parametrize("names", [["cat", "dog"], ["cat"]])
def test_too_few_names_of_classes_are_refused(names: list[str]) -> None:
    with pytest.raises(DataError, match="labels go up to 2"):
        in_memory(images_of(2, 0, 1), images_of(2, 1, 2), names)


def test_images_without_any_difference_are_refused() -> None:
    flat = ImageSet(torch.full((2, 1, 4, 4), 7, dtype=torch.uint8), torch.arange(2))
    with pytest.raises(DataError, match="the same in all pixels"):
        in_memory(flat, flat)


def test_test_images_of_another_size_are_refused() -> None:
    small = ImageSet(torch.zeros(1, 1, 3, 3, dtype=torch.uint8), torch.zeros(1).long())
    with pytest.raises(DataError, match="1×6×4 and test images 1×3×3"):
        in_memory(images_of(2, 0, 1), small)
