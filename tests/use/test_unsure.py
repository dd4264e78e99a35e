"""What a model is least sure of, on a page for whoever owns the pictures."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.report.browser import CHROMIUM, Browser
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.use.predict import predictions


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Sixty pictures of noise; the name of one is an attack."""
    folder = tmp_path / "ward <b>7"
    folder.mkdir()
    noise = np.random.default_rng(1).integers(0, 256, (60, 20, 20, 3), dtype=np.uint8)
    for number, pixels in enumerate(noise):
        Image.fromarray(pixels).save(
            folder / f"<img src=x onerror=alert(1)>{number}.png"
        )
    return folder


@pytest.fixture
def made(real_run: Path, photos: Path, tmp_path: Path) -> Path:
    """Let the command make the page."""
    target = tmp_path / "pages" / "unsure.html"
    options = ["--unsure", str(target), "--out", str(tmp_path / "classes.csv")]
    result = CliRunner().invoke(app, ["predict", str(real_run), str(photos), *options])
    assert result.exit_code == 0, result.output
    assert "unsure.html" in result.output
    return target


def test_the_least_sure_come_first(made: Path, real_run: Path, photos: Path) -> None:
    found = re.search(r'id="data">(.*?)</script>', made.read_text())
    assert found
    shown = json.loads(found[1])["pictures"]
    rows = sorted(predictions(real_run, photos).rows, key=lambda row: row[2])
    assert [each["lines"][0] for each in shown] == [file for file, *_ in rows[:48]]
    assert all(each["src"].startswith("data:image/png;base64,") for each in shown)


def test_the_page_is_its_owners_alone(made: Path) -> None:
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert len(made.read_bytes()) < 500_000


@pytest.mark.skipif(CHROMIUM is None, reason="needs the browser chromium")
def test_a_browser_shows_the_pictures_and_runs_no_name(made: Path, tmp_path) -> None:
    with Browser(tmp_path / "profile") as browser:
        browser.watch()
        browser.resize(390, 844)
        browser("Page.navigate", url=made.as_uri())
        pictures = "[...document.querySelectorAll('main img')]"
        browser.wait(f"{pictures}.filter((i) => i.naturalWidth === 12).length === 48")
        assert browser.js(f"{pictures}.every((i) => i.alt.includes('perhaps'))")
        assert browser.js("document.documentElement.scrollWidth") == 390
        assert browser.complaints() == []
