"""A trained model on a folder of pictures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from fedsemi.config.experiment import make_experiment
from fedsemi.data.augment import resize
from fedsemi.data.datasets import load
from fedsemi.data.folder import read_site
from fedsemi.errors import DataError, StorageError
from fedsemi.runs.model_card import ModelCard
from fedsemi.simulation.build import build
from fedsemi.use.deployed import load_model
from fedsemi.use.predict import open_model, predictions, read_picture


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    (folder / "more").mkdir(parents=True)
    for i, image in enumerate(load("synthetic").test.images[:3]):
        pixels = image.permute(1, 2, 0).numpy()
        Image.fromarray(pixels).save(folder / ("more" if i == 2 else "") / f"{i}.png")
    (folder / "notes.txt").write_text("not a picture")
    return folder


def test_each_picture_gets_its_class_and_probability(real_run, photos) -> None:
    found = predictions(real_run, photos).rows
    model, card = load_model(real_run)
    with torch.inference_mode():
        probs = model(load("synthetic").test.images[:3])
    assert [file for file, _, _ in found] == ["0.png", "1.png", "more/2.png"]
    assert [c for _, c, _ in found] == [card.class_names[i] for i in probs.argmax(1)]
    assert [p for _, _, p in found] == pytest.approx(probs.amax(1).tolist(), abs=1e-6)


def test_pictures_of_any_size_and_kind_are_taken(real_run, photos) -> None:
    Image.new("LA", (50, 9)).save(photos / "gray.png")
    Image.new("RGB", (7, 33)).save(photos / "photo.JPG", format="JPEG")
    lines = predictions(real_run, photos).as_csv().decode().splitlines()
    assert lines[0] == "file,class,probability"
    assert len(lines) == 6


def test_pictures_are_read_as_those_of_the_training(tmp_path: Path) -> None:
    range_16 = [0, 4000]
    classes, names = ["a", "b"], ["deep.png", "turned.jpg", "clear.png", "scan.tif"]
    rng = np.random.default_rng(0)
    gray = rng.integers(0, 256, (30, 20), dtype=np.uint8)
    site = tmp_path / "site"
    for label, name in enumerate([*names, *names]):
        place = site / classes[label % 2]
        place.mkdir(parents=True, exist_ok=True)
        image = Image.fromarray(gray)
        exif = Image.Exif()
        if name == "deep.png":
            image = Image.fromarray(gray.astype(np.uint16) * 15)
        elif name == "turned.jpg":
            exif[0x0112] = 6  # a camera held upright
        elif name == "clear.png":
            image.putalpha(100)
        image.save(place / f"{label}-{name}", exif=exif)
    content = {
        "data": {"name": "folders", "image_size": 16},
        "sites": {
            "folders": [str(site)],
            "classes": classes,
            "test_fraction": 0.2,
            "channels": 1,
            "background": [9, 9, 9],
            "sixteen_bit_range": range_16,
        },
        "model": {"name": "resnet8", "width": 2},
        "stages": [{"method": "supervised", "rounds": 1}],
    }
    simulation = build(make_experiment(content))
    card = ModelCard.of(simulation)
    learned = read_site(site, simulation.experiment.sites, simulation.views.pre)
    for file, image in zip(learned.files, learned.images, strict=True):
        same = resize(image[None], simulation.views.size)
        assert torch.equal(read_picture(site, file, card), same), file
    assert len(learned.files) == 8
    assert ModelCard.from_json(card.as_json(), tmp_path) == card


def test_deep_pictures_are_taken_once_their_range_is_told(
    real_run: Path, tmp_path: Path
) -> None:
    deep = (np.arange(900).reshape(30, 30) * 4).astype(np.uint16)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    with pytest.raises(DataError, match=r"set sites\.sixteen_bit_range"):
        predictions(real_run, tmp_path)
    told = ["sites.sixteen_bit_range=[0, 4095]"]
    ((file, _, probability),) = predictions(real_run, tmp_path, told).rows
    assert file == "deep.png" and 0 < probability <= 1


def test_a_broken_picture_is_named_and_the_others_are_classified(
    real_run, photos
) -> None:
    (photos / "broken.png").write_bytes(b"no")
    found = predictions(real_run, photos)
    assert len(found.rows) == 3
    (line,) = found.left_out
    assert line.startswith("FS3101") and "broken.png" in line


def test_a_folder_of_broken_pictures_is_refused(real_run, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"no")
    with pytest.raises(DataError, match=r"no picture .*a\.png"):
        predictions(real_run, tmp_path)


def test_a_card_of_an_earlier_version_is_read(real_run, tmp_path: Path) -> None:
    _, card = load_model(real_run)
    old = json.loads(card.as_json())
    del old["pixels"]
    assert ModelCard.from_json(json.dumps(old), tmp_path) == card


def test_an_empty_folder_is_refused(real_run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"has no \.png"):
        predictions(real_run, tmp_path / "empty")


@pytest.mark.parametrize("name", ["nothing", "bad.onnx", "bad.pt2", "bad.zip"])
def test_what_is_no_model_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    if name.startswith("bad"):
        (tmp_path / name).write_bytes(b"bad")
    with pytest.raises(StorageError):
        open_model(tmp_path / name)
