"""Sites of arrays, of torch data sets, of folders, and of a data set by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from tests.api.conftest import SMALL, pictures
from torch.utils.data import TensorDataset

import fedsemi
from fedsemi.errors import ConfigError, DataError


def test_sites_are_shown_as_a_table(arrays: fedsemi.Sites) -> None:
    assert len(arrays) == 3
    assert repr(arrays).splitlines()[0].split() == [
        "site",
        "images",
        "labeled",
        "unlabeled",
        "classes",
    ]
    assert repr(arrays).endswith("20 images to test on; 2 classes: 0, 1")
    assert arrays.table()[1] == {
        "site": 1,
        "images": 24,
        "labeled": 0,
        "unlabeled": 24,
        "classes": 0,
    }


def test_a_label_of_minus_one_is_none() -> None:
    images, labels = pictures(10)
    partly = np.where(np.arange(10) < 4, labels, -1)
    sites = fedsemi.sites_from_arrays([(images, partly)], test=(images, labels))
    assert sites.table()[0]["labeled"] == 4
    assert sites.table()[0]["unlabeled"] == 6


def test_the_same_arrays_have_the_same_hashes_and_others_not() -> None:
    first, again = (
        fedsemi.sites_from_arrays([pictures(9)], test=pictures(5)) for _ in range(2)
    )
    other = fedsemi.sites_from_arrays([pictures(9, 1)], test=pictures(5))
    assert first.settings == again.settings
    assert first.settings["data"]["sha256"] != other.settings["data"]["sha256"]


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"labeled": []}, "no site has a labeled image"),
        ({"labeled": [(pictures(4)[0], [-1] * 4)]}, "no site has a labeled image"),
        ({"unlabeled": [pictures(4)[0][:0]]}, "site 1 has no images"),
        ({"unlabeled": [np.zeros((4, 9, 9, 3), np.uint8)]}, r"site 1 .*\[3, 9, 9\]"),
        ({"unlabeled": [np.zeros((4, 9), np.uint8)]}, r"unlabeled\[0\]"),
        ({"test": (pictures(4)[0], [0, 1, 0, -1])}, "test has images without a label"),
        ({"labeled": [(pictures(4)[0], [0, 1])]}, r"labeled\[0\], labels has 2"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_by_name(
    change: dict[str, Any], part: str
) -> None:
    given = {"labeled": [pictures(8)], "unlabeled": [], "test": pictures(4)}
    with pytest.raises(DataError, match=part) as error:
        fedsemi.sites_from_arrays(**(given | change))
    assert "\n" not in str(error.value)


def as_torch(count: int, seed: int = 0) -> TensorDataset:
    images, labels = pictures(count, seed)
    return TensorDataset(
        torch.from_numpy(images).permute(0, 3, 1, 2), torch.from_numpy(labels)
    )


def test_a_torch_data_set_is_dealt_out() -> None:
    sites = fedsemi.sites_from_dataset(
        as_torch(60), as_torch(10, 1), num_clients=3, min_size=4, seed=2
    )
    rows = sites.table()
    assert sum(row["images"] for row in rows) == 60
    assert [row["labeled"] > 0 for row in rows] == [True, False, False]


def test_the_rows_of_each_site_may_be_given() -> None:
    clients = [range(10), range(10, 30), range(30, 33)]
    sites = fedsemi.sites_from_dataset(
        as_torch(40), as_torch(10, 1), clients=clients, labeled_clients=[1]
    )
    assert [row["images"] for row in sites.table()] == [10, 20, 3]
    assert [row["labeled"] for row in sites.table()] == [0, 20, 0]


@pytest.mark.parametrize("clients", [[[0, 1], [1, 2]], [[0, 40]], [[-1]]])
def test_rows_that_are_not_there_or_twice_are_refused(clients) -> None:
    with pytest.raises(DataError, match="rows from 0 to 39, each at most once"):
        fedsemi.sites_from_dataset(as_torch(40), as_torch(9, 1), clients=clients)


class Pictures:
    """A data set of PIL images, as torchvision has them."""

    classes = ("dark", "bright")

    def __init__(self, count: int, side: int | None = None) -> None:
        self.images, self.labels = pictures(count)
        self.side = side

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, row: int) -> tuple[Image.Image, int]:
        image = Image.fromarray(self.images[row])
        side = self.side or 9 + row
        return image.resize((side, side)), int(self.labels[row])


def test_images_of_pil_and_names_of_classes_are_taken_from_a_data_set() -> None:
    parts = Pictures(20, 10), Pictures(6, 10)
    sites = fedsemi.sites_from_dataset(*parts, clients=[range(20)])
    assert sites.class_names == ("dark", "bright")
    assert sites.settings["data"]["image_size"] == 10


def test_images_of_many_sizes_are_refused_with_the_remedy() -> None:
    with pytest.raises(DataError, match="a transform that makes them one size"):
        fedsemi.sites_from_dataset(Pictures(4), Pictures(4, 9), clients=[range(4)])


def test_what_gives_no_pairs_is_refused() -> None:
    only_images: Any = [np.zeros((4, 4))] * 3
    with pytest.raises(DataError, match="pairs of one image and one label"):
        fedsemi.sites_from_dataset(only_images, only_images)


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    images, labels = pictures(40)
    sites = [tmp_path / "north", tmp_path / "south"]
    for row, (image, label) in enumerate(zip(images, labels, strict=True)):
        name = ("dark", "bright")[label]
        place = sites[0] / name if row < 24 else sites[1]
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(place / f"{row}.png")
    return sites


def test_folders_are_read_as_init_reads_them(folders: list[Path], tmp_path) -> None:
    sites = fedsemi.sites_from_folders(*folders, image_size=16)
    assert [row["site"] for row in sites.table()] == ["north", "south"]
    assert sites.class_names == ("bright", "dark")
    run = fedsemi.simulate(sites, **SMALL, out=tmp_path / "run")
    assert {row["site"] for row in run.contributions} == {"north", "south"}


def test_folders_without_classes_are_refused(folders: list[Path]) -> None:
    with pytest.raises(DataError, match="two are needed"):
        fedsemi.sites_from_folders(folders[1])


def test_a_data_set_by_name_is_dealt_out_by_the_seed_of_a_run() -> None:
    sites = fedsemi.sites_from("synthetic", num_clients=3, train_limit=90, min_size=4)
    assert sites.table(seed=1) != sites.table(seed=2)
    fixed = fedsemi.sites_from("synthetic", num_clients=3, min_size=4, seed=5)
    assert fixed.table(seed=1) == fixed.table(seed=2)


def test_a_misspelt_name_or_setting_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'digits'"):
        repr(fedsemi.sites_from("digit"))
    with pytest.raises(ConfigError, match="did you mean 'num_clients'"):
        repr(fedsemi.sites_from("digits", num_client=3))


def half_and_half() -> Any:
    """Two classes, dark and bright."""
    return fedsemi.dataset_of(pictures(80), pictures(20, 1), ["dark", "bright"])


def test_a_data_set_may_be_a_function_of_ones_own() -> None:
    sites = fedsemi.sites_from(half_and_half, num_clients=2, min_size=4)
    assert sites.class_names == ("dark", "bright")
    assert sum(row["images"] for row in sites.table()) == 80
