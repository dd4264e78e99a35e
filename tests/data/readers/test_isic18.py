import csv

import numpy as np
import pytest
import torch
from PIL import Image

from fedsemi.data.datasets import load
from fedsemi.data.readers import isic18
from fedsemi.data.readers.isic18 import age_band, stored_side
from fedsemi.data.readers.isic18_split import (
    CLASS_NAMES,
    TEST_COUNTS,
    TRAIN_COUNTS,
    Photos,
    split_rows,
)
from fedsemi.data.readers.source import Request
from fedsemi.errors import DataError

COLUMNS = ["lesion_id", "image_id", "dx", "dx_type", "age", "sex", "localization"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def photos_of(labels, lesions):
    n = len(labels)
    words = tuple("" for _ in range(n))
    ids = tuple(f"ISIC_{row:07}" for row in range(n))
    names = tuple(f"HAM_{lesion}" for lesion in lesions)
    return Photos(ids, np.array(labels), names, words, words, words)


def write_official(folder, folders, num=30):
    """Write photographs whose red value is their number."""
    rows = []
    for n in range(num):
        place = folder / folders[n % len(folders)]
        place.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (60, 45), (n * 8, 0, 0)).save(place / f"ISIC_{n:07}.jpg")
        dx = CLASS_NAMES[n % 3]
        rows.append([f"HAM_{n // 2}", f"ISIC_{n:07}", dx, "", 40.0, "male", "back"])
    for row in rows[::2]:
        row[4:] = ["", "", ""]
    with (folder / "HAM10000_metadata.csv").open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])


@pytest.mark.parametrize(
    "folders",
    [
        ("HAM10000_images_part_1", "HAM10000_images_part_2"),
        ("ISIC2018_Task3_Training_Input",),
    ],
)
def test_official_photographs_are_resized_with_room_for_crops(tmp_path, folders):
    write_official(tmp_path, folders)
    dataset = load("isic18", tmp_path, image_size=28)
    side = stored_side(28)
    assert side == 31
    assert dataset.image_size == 28
    assert dataset.train.images.shape == (24, 3, side, side)
    assert dataset.train.labels.bincount().tolist() == [8, 8, 8]
    assert dataset.test.labels.bincount().tolist() == [2, 2, 2]
    # The red value tells the number, the number tells class and lesion.
    numbers = torch.round(dataset.train.images[:, 0].float().mean((1, 2)) / 8).long()
    assert torch.equal(numbers % 3, dataset.train.labels)
    same_lesion = numbers[:, None] // 2 == numbers // 2
    assert torch.equal(same_lesion, dataset.groups[:, None] == dataset.groups)


def test_224_pixels_are_stored_as_250():
    assert stored_side(224) == 250


def test_test_images_have_age_sex_and_site(tmp_path):
    write_official(tmp_path, ("HAM10000_images_part_1",))
    columns = load("isic18", tmp_path, image_size=8).test_metadata
    assert {len(words) for words in columns.values()} == {6}
    seen = set(zip(columns["age"], columns["sex"], columns["site"], strict=True))
    assert seen == {("30-44", "male", "back"), ("unknown", "unknown", "unknown")}


@pytest.mark.parametrize(
    ("age", "band"),
    [("0.0", "0-29"), ("30", "30-44"), ("59.9", "45-59"), ("74", "60-74")],
)
def test_age_bands(age, band):
    assert age_band(age) == band
    assert age_band("85.0") == "75+"
    assert age_band("") == "unknown"


def test_a_photograph_that_is_missing_is_named(tmp_path):
    write_official(tmp_path, ("HAM10000_images_part_1",))
    (tmp_path / "HAM10000_images_part_1" / "ISIC_0000007.jpg").unlink()
    with pytest.raises(DataError, match=r"FS3004 .* lists ISIC_0000007, but no folder"):
        load("isic18", tmp_path)


def test_a_photograph_that_is_damaged_is_named(tmp_path):
    write_official(tmp_path, ("HAM10000_images_part_1",))
    path = tmp_path / "HAM10000_images_part_1" / "ISIC_0000007.jpg"
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(DataError, match=r"FS3004 .*ISIC_0000007\.jpg cannot be read"):
        load("isic18", tmp_path, image_size=8)


def test_an_unknown_diagnosis_is_refused(tmp_path):
    write_official(tmp_path, ("HAM10000_images_part_1",))
    path = tmp_path / "HAM10000_metadata.csv"
    path.write_text(path.read_text().replace("bcc", "scc"))
    with pytest.raises(DataError, match=r"FS3004 .*not the table of HAM10000"):
        load("isic18", tmp_path)


def test_image_split_has_exactly_the_literatures_class_counts():
    totals = np.add(TRAIN_COUNTS, TEST_COUNTS)
    labels = np.repeat(np.arange(7), totals)
    photos = photos_of(labels, range(len(labels)))
    train, test = split_rows(photos, "image", seed=5)
    assert (len(train), len(test)) == (8012, 2003)
    assert tuple(np.bincount(labels[train])) == TRAIN_COUNTS
    assert tuple(np.bincount(labels[test])) == TEST_COUNTS
    assert not set(train) & set(test)
    assert set(test) != set(split_rows(photos, "image", seed=6)[1])


def test_lesion_split_keeps_each_lesion_on_one_side():
    rng = np.random.default_rng(0)
    lesions = np.sort(rng.integers(800, size=1500))
    labels = (lesions * 7919) % 7
    train, test = split_rows(photos_of(labels, lesions), "lesion", seed=1)
    assert not set(lesions[train]) & set(lesions[test])
    assert 0.17 < len(test) / 1500 < 0.23
    shares = np.bincount(labels[test]) / np.bincount(labels)
    assert (abs(shares - 0.2) < 0.06).all()


@pytest.mark.parametrize("split", ["image", "lesion"])
def test_the_order_of_the_table_does_not_change_the_split(split):
    photos = photos_of(np.arange(300) % 7, np.arange(300) // 2)
    order = np.random.default_rng(1).permutation(300)
    shuffled = photos.take(order)
    _, test = split_rows(photos, split, seed=2)
    _, again = split_rows(shuffled, split, seed=2)
    assert {photos.image_ids[r] for r in test} == {shuffled.image_ids[r] for r in again}


def test_a_published_split_counts_rows_of_the_table(tmp_path):
    path = tmp_path / "skin.pth"
    content = {"data_partition": {0: [0]}, "train_list": [3, 0, 1], "test_list": [2]}
    torch.save(content, path)
    photos = photos_of([0, 1, 2, 3], range(4))
    train, test = split_rows(photos, str(path), seed=0)
    assert train.tolist() == [3, 0, 1]
    assert test.tolist() == [2]
    with pytest.raises(
        DataError, match=r"FS3005 .*splits 4 rows, but the data set has 5"
    ):
        split_rows(photos_of([0] * 5, range(5)), str(path), seed=0)


def test_a_published_file_without_a_split_is_refused(tmp_path):
    torch.save({"data_partition": {0: [0]}}, tmp_path / "svhn.pth")
    with pytest.raises(DataError, match=r"FS3005 .*use split = 'image' or 'lesion'"):
        split_rows(photos_of([0], [0]), str(tmp_path / "svhn.pth"), seed=0)


@pytest.mark.parametrize(
    ("image_size", "file"),
    [(None, "isic18.npz"), (32, "isic18.npz"), (64, "isic18-96.npz")],
)
def test_whoever_asks_for_more_than_32_pixels_gets_the_larger_file(
    tmp_path, monkeypatch, image_size, file
):
    for name in ("isic18.npz", "isic18.csv", "isic18-96.npz"):
        (tmp_path / name).touch()
    monkeypatch.setattr(isic18, "_compact", lambda images, *_: images.name)
    request = Request(tmp_path, image_size, "image")
    assert isic18.read(request) == file
    (tmp_path / "isic18-96.npz").unlink()
    assert isic18.read(request) == "isic18.npz"
