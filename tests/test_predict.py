"""A trained model on a folder of pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from PIL import Image

from fedsemi.data.datasets import load
from fedsemi.errors import DataError, StorageError
from fedsemi.exports import load_model
from fedsemi.predict import as_csv, open_model, predictions


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
    found = list(predictions(real_run, photos))
    model, card = load_model(real_run)
    with torch.inference_mode():
        probs = model(load("synthetic").test.images[:3])
    assert [file for file, _, _ in found] == ["0.png", "1.png", "more/2.png"]
    assert [c for _, c, _ in found] == [card.class_names[i] for i in probs.argmax(1)]
    assert [p for _, _, p in found] == pytest.approx(probs.amax(1).tolist(), abs=1e-6)


def test_pictures_of_any_size_and_kind_are_taken(real_run, photos) -> None:
    Image.new("LA", (50, 9)).save(photos / "grey.png")
    Image.new("RGB", (7, 33)).save(photos / "photo.JPG", format="JPEG")
    lines = as_csv(real_run, photos).splitlines()
    assert lines[0] == "file,class,probability"
    assert len(lines) == 6


def test_a_broken_picture_is_named(real_run, photos) -> None:
    (photos / "broken.png").write_bytes(b"no")
    with pytest.raises(DataError, match=r"broken\.png"):
        list(predictions(real_run, photos))


def test_an_empty_folder_is_refused(real_run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"has no \.png"):
        list(predictions(real_run, tmp_path / "empty"))


@pytest.mark.parametrize("name", ["nothing", "bad.onnx", "bad.pt2", "bad.zip"])
def test_what_is_no_model_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    if name.startswith("bad"):
        (tmp_path / name).write_bytes(b"bad")
    with pytest.raises(StorageError):
        open_model(tmp_path / name)
