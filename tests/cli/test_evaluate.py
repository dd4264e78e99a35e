"""The command that tests a model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fedsemi.cli import app
from fedsemi.errors import ConfigError


@pytest.fixture
def run(real_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(real_run, tmp_path / "run"))


def fedsemi(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_the_numbers_of_a_run_are_printed_and_saved(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "numbers.json"
    done = fedsemi("evaluate", run, "--out", out)
    assert done.exit_code == 0, done.exception
    assert "4 of 4 classes" in done.output and "95 % intervals" in done.output
    assert json.loads(out.read_text())["class_names"][0] == "disc"


def test_a_page_is_made_if_it_is_asked_for(run: Path, tmp_path: Path) -> None:
    done = fedsemi("evaluate", run, "--out", tmp_path / "page.html")
    assert done.exit_code == 0, done.exception
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_what_is_neither_page_nor_numbers_is_refused(run: Path, tmp_path: Path) -> None:
    done = fedsemi("evaluate", run, "--out", tmp_path / "page.pdf")
    assert isinstance(done.exception, ConfigError)
    assert ".html or .json" in str(done.exception)
