import io

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from fedsemi.data.partition import ClientIndex, Partition, make_partition
from fedsemi.data.show import partition_table, save_heatmap
from fedsemi.errors import CannotCreate

TOY = Partition(
    (
        ClientIndex(np.array([0, 1, 2]), np.array([], dtype=np.int64)),
        ClientIndex(np.array([], dtype=np.int64), np.array([3, 4])),
    )
)
TOY_LABELS = np.array([0, 1, 1, 1, 1])


def printed(table):
    console = Console(width=200, file=io.StringIO())
    console.print(table)
    lines = console.file.getvalue().splitlines()
    return [line.split() for line in lines if line.strip() and "─" not in line]


def test_table_marks_labeled_clients_and_adds_up():
    assert printed(partition_table(TOY, TOY_LABELS, ("cat", "dog"))) == [
        ["client", "cat", "dog", "total", "labeled"],
        ["0*", "1", "2", "3", "3"],
        ["1", "-", "2", "2", "-"],
        ["all", "1", "4", "5", "60.00%"],
    ]


def test_table_of_many_classes_says_how_many_a_client_owns():
    labels = np.arange(2000) % 50
    partition = make_partition(labels, 50, scheme="iid", num_clients=4)
    names = tuple(f"class {c}" for c in range(50))
    head, first, *_, total = printed(partition_table(partition, labels, names))
    assert head == ["client", "classes", "smallest", "largest", "total", "labeled"]
    assert first[0] == "0*" and first[-2:] == ["500", "500"]
    assert total == ["all", "50", "40", "40", "2,000", "25.00%"]


@pytest.mark.parametrize("num_classes", [2, 7, 100])
def test_heat_map_is_a_picture_that_grows_with_the_classes(tmp_path, num_classes):
    labels = np.arange(3000) % num_classes
    partition = make_partition(labels, num_classes, seed=1)
    path = tmp_path / "classes.png"
    save_heatmap(partition, labels, [f"c{c}" for c in range(num_classes)], path)
    with Image.open(path) as picture:
        width, height = picture.size
    assert width >= 800 and height >= 500
    assert num_classes < 100 or width > 2000


def test_heat_map_of_single_images_is_drawn(tmp_path):
    save_heatmap(TOY, [0, 1, 0, 0, 1], ("cat", "dog"), tmp_path / "toy.svg")
    assert (tmp_path / "toy.svg").read_text().startswith("<?xml")


def test_heat_map_in_a_missing_folder_is_said(tmp_path):
    with pytest.raises(CannotCreate, match="cannot write the heat map"):
        save_heatmap(TOY, TOY_LABELS, ("cat", "dog"), tmp_path / "no" / "map.png")
