"""A partition from a file: found, held against the data, and named in the record."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fedsemi.config.experiment import make_experiment
from fedsemi.data.partition_file import (
    LABELED_CLASSES,
    find_partition_file,
    read_partition_file,
)
from fedsemi.errors import ConfigError, DataError
from fedsemi.runs.manifest import manifest
from fedsemi.simulation.build import build

LABELS = np.array([0, 1, 0, 1, 1])
CLIENTS = {0: [4, 0], 1: [1, 2, 3]}


def write(path: Path, clients: Any = CLIENTS, **more: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"data_partition": clients, **more}, path)
    return path


def test_a_file_says_who_owns_what_and_client_zero_has_labels(tmp_path: Path) -> None:
    file = read_partition_file(str(write(tmp_path / "own.pth")))
    first, second = file.partition(LABELS, 2, 2, 1).clients
    assert first.labeled.tolist() == [4, 0] and not len(first.unlabeled)
    assert second.unlabeled.tolist() == [1, 2, 3] and not len(second.labeled)
    assert file.split == "image"


def test_with_all_labels_a_partly_labeled_file_is_an_upper_bound(
    tmp_path: Path,
) -> None:
    path = tmp_path / "part.pth"
    torch.save({"labeled": {0: [4], 1: [1]}, "unlabeled": {0: [0], 1: [2, 3]}}, path)
    file = read_partition_file(str(path))
    assert file.partition(LABELS, 2, 2, 1).labeled_share == 0.4
    assert file.partition(LABELS, 2, 2, "all").labeled_share == 1


def test_a_file_is_found_by_name_in_the_data_folder(tmp_path: Path) -> None:
    assert find_partition_file("own.pth", tmp_path) is None
    lying = write(tmp_path / "partition_strategy" / "own.pth")
    assert find_partition_file("own.pth", tmp_path) == lying
    with pytest.raises(DataError, match=r"FS4143 .*'other.pth'"):
        read_partition_file("other.pth", tmp_path)


def test_a_file_with_its_own_split_asks_for_it(tmp_path: Path) -> None:
    path = write(tmp_path / "skin.pth", train_list=[2, 0, 1, 3, 4], test_list=[5])
    assert read_partition_file(str(path)).split == str(path)


@pytest.mark.parametrize(
    ("clients", "num_clients", "told"),
    [
        (CLIENTS, 3, "it has 2 clients"),
        ({0: [0], 1: [1, 2, 3]}, 2, "4 rows, and the data set has 5"),
        ({0: [0, 4], 1: [1, 2, 3, 4]}, 2, "6 rows"),
        ({0: [0, 5], 1: [1, 2, 3]}, 2, "5 rows"),
        ({0: [0, -1], 1: [1, 2, 3]}, 2, "5 rows"),
    ],
)
def test_a_file_that_does_not_fit_the_data_is_refused(
    tmp_path: Path, clients: Any, num_clients: int, told: str
) -> None:
    file = read_partition_file(str(write(tmp_path / "own.pth", clients)))
    with pytest.raises(DataError, match=f"FS4142 .*{told}"):
        file.partition(LABELS, 2, num_clients, 1)


def test_images_in_another_order_than_the_published_one_are_noticed(
    tmp_path: Path,
) -> None:
    name = "skin_noniid_beta0.8.pth"
    own = np.repeat(np.arange(7), LABELED_CLASSES[name])
    labels = np.concatenate([own, [5, 5, 6]])
    rows = list(range(len(labels)))
    clients = {0: rows[: len(own)], 1: rows[len(own) :]}
    file = read_partition_file(str(write(tmp_path / name, clients)))
    assert len(file.partition(labels, 7, 2, 1).clients[0]) == 589
    with pytest.raises(DataError, match=r"FS4142 .*another order"):
        file.partition(labels[::-1], 7, 2, 1)


def experiment(file: str, **partition: Any) -> dict[str, Any]:
    return {
        "data": {"name": "digits", "flip": False},
        "partition": {"file": file, "num_clients": 2, **partition},
        "model": {"name": "resnet8", "width": 2},
        "stages": [{"method": "supervised", "rounds": 1}],
    }


def test_a_run_takes_the_file_and_names_it_by_its_hash(tmp_path: Path) -> None:
    shares = {0: list(range(100)), 1: list(range(100, 1438))}
    path = write(tmp_path / "digits.pth", shares)
    built = build(make_experiment(experiment("digits.pth")), tmp_path)
    assert [c.num_labeled for c in built.federation.clients] == [100, 0]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert manifest(built)["partition_file_sha256"] == digest


@pytest.mark.parametrize(
    "other", [{"seed": 3}, {"dirichlet_alpha": 0.5}, {"labeled_fraction": 0.1}], ids=str
)
def test_a_setting_that_the_file_would_overrule_is_refused(other: Any) -> None:
    with pytest.raises(ConfigError, match=f"FS4141 .*partition.{next(iter(other))}"):
        make_experiment(experiment("digits.pth", **other))


def test_a_part_of_the_data_cannot_have_a_published_partition() -> None:
    content = experiment("digits.pth")
    content["data"]["train_limit"] = 100
    with pytest.raises(ConfigError, match=r"FS4141 .*data.train_limit"):
        make_experiment(content)
