"""Pictures in a report: whose they are, who sees them, and how large they are."""

from __future__ import annotations

import json
import stat
from base64 import b64decode
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from rich.console import Console
from tests.data.pictures import make_site
from tests.test_label_free import without_oracle

from fedsemi import load
from fedsemi.config.experiment import make_experiment
from fedsemi.errors import DataError
from fedsemi.report.analysis import model_facts
from fedsemi.report.build import report
from fedsemi.report.pictures import Pictures, pictures_of, thumbnail
from fedsemi.report.run import read_run
from fedsemi.runs.folder import MODEL
from fedsemi.simulation.build import build
from fedsemi.storage import read_weights
from fedsemi.use.session import run_and_record

LIMIT = 2_000_000
"""Bytes of a page with all the pictures that there may be."""


def pixels(address: str) -> np.ndarray:
    kind, content = address.split(",")
    assert kind in ("data:image/png;base64", "data:image/jpeg;base64")
    return np.asarray(Image.open(BytesIO(b64decode(content))))


@pytest.fixture
def own_run(tmp_path: Path) -> Path:
    """A run on the folders of two sites."""
    a = make_site(tmp_path / "hospital-a", {"cat": 10, "dog": 10})
    b = make_site(tmp_path / "hospital-b", {"": 8}, start=100)
    sites = {"folders": [str(a), str(b)], "classes": ["cat", "dog"]}
    content = {"data": {"name": "folders", "image_size": 8}, "sites": sites}
    content |= {"model": {"name": "resnet8", "width": 4}}
    content |= {"stages": [{"method": "semianagg", "rounds": 1}]}
    simulation = build(make_experiment(content))
    run_and_record(simulation, tmp_path / "run", "own", 1, Console(quiet=True))
    return tmp_path / "run"


def test_the_pictures_are_the_images_that_the_records_point_at(real_run: Path) -> None:
    run = read_run(real_run)
    simulation = build(make_experiment(run.config))
    shown = pictures_of(run)
    places = run.analysis["mistakes"]
    assert len(places) == len(shown.mistakes) > 0
    for place, picture in zip(places, shown.mistakes, strict=True):
        image = simulation.dataset.test.images[place["row"]]
        assert np.array_equal(pixels(picture["src"]), image.permute(1, 2, 0).numpy())
        assert picture["true"] == simulation.dataset.test.labels[place["row"]]
        assert picture["label"] != picture["true"]
    assert [each["client"] for each in shown.least_sure] == [1, 2, 3]
    place = run.analysis["least_sure"]["2"][0]["row"]
    image = simulation.federation.clients[2].unlabeled_images[place]
    first = shown.least_sure[1]["images"][0]
    assert np.array_equal(pixels(first["src"]), image.permute(1, 2, 0).numpy())
    assert "true" not in first


def test_what_is_unlabeled_is_chosen_without_the_truth(real_run: Path) -> None:
    experiment = make_experiment(read_run(real_run).config)
    weights = read_weights(real_run / MODEL)
    known, _ = model_facts(build(experiment), weights)
    blind, _ = model_facts(without_oracle(build(experiment)), weights)
    assert known["least_sure"] == blind["least_sure"]


def test_the_folder_of_a_run_holds_no_image(own_run: Path) -> None:
    text = (own_run / "analysis.json").read_text()
    assert "data:image" not in text
    assert set(json.loads(text)["least_sure"]["1"][0]) == {"row", "label", "confidence"}


def test_own_images_are_shown_only_if_somebody_says_so(own_run: Path) -> None:
    run = read_run(own_run)
    left_out = pictures_of(run)
    assert left_out == Pictures(why_not=left_out.why_not)
    assert "--pictures shows them" in left_out.why_not
    assert pictures_of(run, wanted=True).least_sure[0]["client"] == 1
    assert pictures_of(run, wanted=False) == Pictures()


def test_a_page_with_own_images_is_nobody_elses(own_run: Path, tmp_path: Path) -> None:
    page = load(own_run).report(tmp_path / "page.html", pictures=True)
    assert "data:image/png" in page.read_text()
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


def test_images_that_have_changed_are_not_shown_for_others(own_run: Path) -> None:
    folder = own_run.parent / "hospital-b"
    path = sorted(folder.rglob("*.png"))[0]
    Image.new("RGB", (9, 9), "red").save(path)
    with pytest.raises(
        DataError, match=r"FS1130 .* have changed since; .*--no-pictures"
    ):
        pictures_of(read_run(own_run), wanted=True)


def test_data_that_are_not_here_leave_a_page_without_pictures(real_run, tmp_path):
    run = read_run(real_run)
    run.config["data"] = run.config["data"] | {"name": "svhn"}
    found = pictures_of(run, data_dir=tmp_path)
    assert (found.mistakes, found.least_sure) == ((), ())
    assert "no pictures: FS3001 data set 'svhn' was not found" in found.why_not
    with pytest.raises(DataError, match="FS3001"):
        pictures_of(run, wanted=True, data_dir=tmp_path)


def test_a_run_that_names_code_from_outside_loads_none_for_its_pictures(real_run):
    run = read_run(real_run)
    run.config["model"] = run.config["model"] | {"name": "nowhere.at_all:Model"}
    assert "nowhere.at_all" in pictures_of(run).why_not


def test_large_images_become_small_and_small_ones_stay_exact() -> None:
    noise = torch.randint(0, 256, (3, 300, 200), dtype=torch.uint8)
    assert pixels(thumbnail(noise)).shape == (64, 43, 3)
    gray = torch.arange(64, dtype=torch.uint8).view(1, 8, 8)
    assert np.array_equal(pixels(thumbnail(gray)), gray[0].numpy())


def test_a_page_of_as_many_pictures_as_there_may_be_stays_small(make_run) -> None:
    noise = torch.randint(0, 256, (3, 64, 64), dtype=torch.uint8)
    one = {"label": 0, "true": 1, "confidence": 0.5, "src": thumbnail(noise)}
    doubts = [{"client": 0, "images": [one]} for _ in range(240)]
    page = report([read_run(make_run())], Pictures((one,) * 12, tuple(doubts)))
    assert len(page.encode()) < LIMIT
