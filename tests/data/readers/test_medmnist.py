"""MedMNIST from its official files, of which small ones are made here."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedsemi.data.datasets import DATASETS, load
from fedsemi.data.readers import medmnist
from fedsemi.data.readers.source import DatasetSource
from fedsemi.errors import DataError

NAMES = [source.name for source in medmnist.SOURCES]


def parts(channels: int, num_classes: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    color = (3,) if channels == 3 else ()
    made = {}
    for part, count in (("train", 8), ("val", 3), ("test", 4)):
        shape = (count, 28, 28, *color)
        made[f"{part}_images"] = rng.integers(256, size=shape, dtype=np.uint8)
        labels = np.arange(count, dtype=np.uint8) % num_classes
        made[f"{part}_labels"] = labels[:, None]
    return made


def write(
    folder: Path, name: str, content: dict[str, Any], patch: pytest.MonkeyPatch
) -> Path:
    """Write a file and let it be the published one."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.npz"
    np.savez_compressed(path, **content)
    source = DATASETS.own[name]
    assert isinstance(source, DatasetSource) and isinstance(source.read, partial)
    md5 = hashlib.md5(path.read_bytes()).hexdigest()
    facts = replace(source.read.args[0], md5=md5)
    own = replace(source, read=partial(source.read.func, facts))
    patch.setitem(DATASETS.own, name, own)  # type: ignore[arg-type]
    return path


def channels_of(name: str) -> int:
    source = DATASETS.own[name]
    assert isinstance(source, DatasetSource) and isinstance(source.read, partial)
    return int(source.read.args[0].channels)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sub", [".", "medmnist"])
def test_the_training_and_the_test_part_are_read(
    name: str, sub: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    channels, classes = channels_of(name), DATASETS[name].class_names
    content = parts(channels, len(classes))
    write(tmp_path / sub, name, content, monkeypatch)
    dataset = load(name, tmp_path)
    assert dataset.train.images.shape == (8, channels, 28, 28)
    assert (len(dataset.train), len(dataset.test)) == (8, 4)  # none of `val`
    assert dataset.train.labels.tolist() == content["train_labels"][:, 0].tolist()
    first = dataset.test.images[0].permute(1, 2, 0).squeeze(-1).numpy()
    assert np.array_equal(first, content["test_images"][0])
    assert dataset.class_names == classes
    # Mean and deviation are those of the training images.
    pixels = dataset.train.images.double() / 255
    assert dataset.mean == pytest.approx(pixels.mean((0, 2, 3)).tolist())
    deviation = pixels.std((0, 2, 3), correction=0)
    assert dataset.std == pytest.approx(deviation.tolist())


def test_another_sum_than_the_published_one_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "pathmnist.npz", **parts(3, 9))
    with pytest.raises(DataError, match=r"FS3002 .*expected a8b06965"):
        load("pathmnist", tmp_path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"train_images": np.zeros((8, 64, 64), np.uint8)}, r"\[8, 64, 64\]"),
        ({"test_images": np.zeros((4, 28, 28), np.float32)}, "float32"),
        ({"train_labels": np.zeros((8, 14), np.uint8)}, r"labels are \[8, 14\]"),
        ({"test_labels": np.zeros((3, 1), np.uint8)}, r"labels are \[3, 1\]"),
    ],
)
def test_parts_of_another_shape_are_refused(
    change: dict[str, Any],
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(tmp_path, "octmnist", parts(1, 4) | change, monkeypatch)
    with pytest.raises(DataError, match=f"FS3004 .*{reason}"):
        load("octmnist", tmp_path)


def test_a_label_beyond_the_classes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = parts(1, 2) | {"train_labels": np.full((8, 1), 7, np.uint8)}
    write(tmp_path, "breastmnist", content, monkeypatch)
    with pytest.raises(DataError, match="FS3004 breastmnist: training labels run"):
        load("breastmnist", tmp_path)


class Trap:
    """Leaves a file behind if it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (str(TRAPPED), "w"))


TRAPPED = Path("unpickled")


def test_pickled_objects_in_a_file_are_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trap = np.array([Trap()], dtype=object)
    content = parts(1, 4) | {"train_images": trap}
    write(tmp_path, "octmnist", content, monkeypatch)
    with pytest.raises(DataError, match=r"FS3004 .*allow_pickle"):
        load("octmnist", tmp_path)
    assert not TRAPPED.exists()


def test_several_classes_at_once_are_refused_with_a_word() -> None:
    with pytest.raises(DataError, match=r"FS3050 'chestmnist' .*one class per image"):
        load("chestmnist")
