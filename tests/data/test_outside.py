"""Data sets from outside: of arrays, and from a function in a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from fedsemi.config.experiment import make_experiment
from fedsemi.data.datasets import load
from fedsemi.data.outside import dataset_of
from fedsemi.errors import ConfigError, DataError
from fedsemi.simulation.build import build

MODULE = """
import numpy as np
from fedsemi.data.outside import dataset_of

def stripes(image_size=None):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 70)
    images = rng.random((70, 8, 8)) / 2
    images[labels == 1, ::2] += 0.5
    names = ["plain", "striped"]
    return dataset_of((images[:60], labels[:60]), (images[60:], labels[60:]), names)

def nothing():
    return 7

def broken():
    raise RuntimeError("no disk\\nat all")

number = 3
"""


def test_layouts_and_kinds_of_numbers_give_the_same_pixels() -> None:
    rng = np.random.default_rng(0)
    bytes_last = rng.integers(0, 256, (6, 8, 8, 3), dtype=np.uint8)
    labels = np.array([0, 1, 2, 0, 1, 2])
    first = torch.from_numpy(bytes_last).permute(0, 3, 1, 2)
    for images in (bytes_last, first, bytes_last / 255):
        found = dataset_of((images, labels), (images[:2], labels[:2]))
        assert torch.equal(found.train.images, first)
        assert found.train.images.is_contiguous()
        assert (found.channels, found.class_names) == (3, ("0", "1", "2"))


def test_gray_images_need_no_channel() -> None:
    images = np.arange(256, dtype=np.uint8).reshape(4, 8, 8)
    found = dataset_of((images, [0, 1, 0, 1]), (images, [0, 1, 0, 1]), ["a", "b"])
    assert tuple(found.test.images.shape) == (4, 1, 8, 8)


@pytest.mark.parametrize(
    ("images", "labels", "told"),
    [
        (np.full((1, 8, 8), 7.0), [0], "values from 7 to 7"),
        (np.zeros((1, 8, 8)), [0.5], "one whole number"),
        (np.zeros((2, 8, 8)), [0], "1 entries for 2 images"),
        (np.zeros((1, 8, 8)), [3], "labels go up to 3 and there are 2 classes"),
    ],
)
def test_arrays_that_are_no_data_set_are_refused(images, labels, told) -> None:
    with pytest.raises(DataError, match=told):
        dataset_of((images, labels), (images, labels), ["a", "b"])


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_data.py").write_text(MODULE)


def test_a_config_names_a_function(module: None) -> None:
    experiment = make_experiment(
        {
            "data": {"name": "own_data:stripes", "image_size": 12},
            "model": {"name": "resnet8", "width": 2},
            "partition": {"num_clients": 2, "min_size": 8},
            "stages": [{"method": "supervised", "rounds": 1}],
        }
    )
    simulation = build(experiment)
    assert simulation.class_names == ("plain", "striped")
    assert simulation.dataset.name == "own_data:stripes"
    assert (simulation.model.in_channels, simulation.views.size) == (1, 12)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("own_data:nothing", "FS3008 the data set 'own_data:nothing' returned a int"),
        ("own_data:broken", "FS3008 .*RuntimeError: no disk at all"),
        ("own_data:number", "FS4161 the data set 'own_data:number' is no function"),
        ("own_data:missing", "FS4160 the data set 'own_data:missing' cannot be loaded"),
    ],
)
def test_what_is_no_data_set_is_one_clear_line(module: None, name, told) -> None:
    with pytest.raises((DataError, ConfigError), match=told):
        load(name)
