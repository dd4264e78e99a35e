"""Taking a run elsewhere: what is written where, and what goes to which stream."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path

import pytest
from tests.data.pictures import save_picture
from typer.testing import CliRunner, Result

from fedsemi.cli import app
from fedsemi.errors import DataError


@pytest.fixture
def run(real_run: Path, tmp_path: Path) -> Path:
    """A copy, as exports are written into the run."""
    return Path(shutil.copytree(real_run, tmp_path / "run"))


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for number, value in enumerate((10, 90, 200)):
        save_picture(tmp_path / "photos" / f"{number}.png", value)
    return tmp_path / "photos"


def fedsemi(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize(
    ("format", "name"), [("csv", "csv"), ("torch", "model.pt2"), ("onnx", "model.onnx")]
)
def test_an_export_lies_in_the_run_unless_it_is_named(
    run: Path, format: str, name: str
) -> None:
    done = fedsemi("export", run, "--format", format)
    assert done.exit_code == 0, done.exception
    assert (run / name).exists() and f"saved {run / name}" in done.output


def test_an_export_that_is_named_makes_the_folders_above_it(
    run: Path, tmp_path: Path
) -> None:
    target = tmp_path / "a" / "b" / "tables"
    assert fedsemi("export", run, "--format", "csv", "--out", target).exit_code == 0
    assert any(target.iterdir()) and not (run / "csv").exists()


def test_classes_are_printed_as_csv_that_a_program_can_read(
    run: Path, photos: Path
) -> None:
    done = fedsemi("predict", run, photos)
    assert done.exit_code == 0, done.exception
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["file"] for row in rows] == ["0.png", "1.png", "2.png"]
    assert all(0 < float(row["probability"]) <= 1 for row in rows)
    assert done.stderr == ""


def test_pictures_that_cannot_be_read_are_told_beside_the_csv(
    run: Path, photos: Path
) -> None:
    (photos / "broken.png").write_bytes(b"no")
    done = fedsemi("predict", run, photos)
    assert done.exit_code == 0
    assert "broken.png" not in done.stdout and done.stdout.count("\n") == 4
    first, last = done.stderr.splitlines()
    assert first.startswith("FS3101") and "broken.png" in first
    assert last == "left out 1 of 4 pictures"


def test_classes_can_be_written_into_a_file_with_the_same_content(
    run: Path, photos: Path, tmp_path: Path
) -> None:
    target = tmp_path / "new" / "classes.csv"
    done = fedsemi("predict", run, photos, "--out", target)
    assert f"saved {target}" in done.output
    assert target.read_bytes() == fedsemi("predict", run, photos).stdout_bytes


def test_an_exported_model_says_what_the_run_says(run: Path, photos: Path) -> None:
    assert fedsemi("export", run, "--format", "torch").exit_code == 0
    ours, theirs = (
        [row["class"] for row in csv.DictReader(io.StringIO(done.stdout))]
        for done in (
            fedsemi("predict", run, photos),
            fedsemi("predict", run / "model.pt2", photos),
        )
    )
    assert ours == theirs


def test_a_folder_without_pictures_is_wrong_data(run: Path, tmp_path: Path) -> None:
    done = fedsemi("predict", run, tmp_path / "nothing")
    assert isinstance(done.exception, DataError)
    assert done.exception.code == "FS3001"
