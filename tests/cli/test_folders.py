"""As a new user would: a messy federation from `init` to a trained model."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.config import load_config
from fedsemi.errors import CannotCreate, DataError

MODES = ("L", "RGB", "P", "RGBA", "CMYK", "I;16", "LA")


def save_digit(place: Path, label: int, number: int, rng: np.random.Generator) -> str:
    """Draw a bright corner for class 1, a dark one for class 0, in one of the modes."""
    array = rng.integers(0, 60, (12, 12), dtype=np.uint8)
    array[:6, :6] += 150 * label
    mode = MODES[number % len(MODES)]
    image = Image.fromarray(array)
    if mode == "I;16":
        image = Image.fromarray(array.astype(np.uint16) * 16)
    elif mode != "L":
        image = image.convert(mode)
    suffix = ".tif" if mode == "CMYK" else ".jpg" if mode == "RGB" else ".png"
    place.mkdir(parents=True, exist_ok=True)
    image.save(place / f"grün {number} 😀{suffix}")
    return f"grün {number} 😀{suffix}"


def messy_federation(root: Path) -> list[str]:
    """Make four sites: sub-folders, a CSV with slips and blanks, no labels, empty."""
    rng = np.random.default_rng(0)
    for number in range(40):
        label = ("cat", "dog")[number % 2]
        save_digit(root / "clinic-ä" / label, number % 2, number, rng)
    rows = []
    for number in range(40):
        name = save_digit(root / "b" / "scans", number % 2, 100 + number, rng)
        label = ("cat", "dog")[number % 2] if number % 4 < 2 else ""
        rows.append(f"scans/{name},{'catt' if number == 4 else label}")
    text = "\ufefffile,label\r\n" + "\r\n".join(rows) + "\r\n"
    (root / "b" / "labels.csv").write_bytes(text.encode())
    for number in range(40):
        save_digit(root / "practice c", number % 2, 200 + number, rng)
    (root / "empty").mkdir()
    for site in ("clinic-ä", "b", "practice c"):  # 5 % of each are damaged
        files = sorted(p for p in (root / site).rglob("*") if p.suffix in (".png",))
        for path in files[:2]:
            path.write_bytes(path.read_bytes()[:30])
    return ["clinic-ä", "b", "practice c", "empty"]


def test_messy_federation_trains_to_the_end_and_says_what_was_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    runner = CliRunner()
    sites = messy_federation(tmp_path)
    assert runner.invoke(app, ["init", *sites]).exit_code == 0
    settings = load_config(Path("federation.toml")).sites
    assert settings is not None and settings.classes == ["cat", "dog"]
    assert settings.sixteen_bit_range == [0, 4095]

    checked = runner.invoke(app, ["check", "federation.toml"])
    assert checked.exit_code == 65
    assert "FS3101 clinic-ä: 2 of 40 images are unusable" in checked.stdout
    assert "FS3201 b: 1 of 40 rows of labels.csv are bad" in checked.stdout
    assert "did you mean 'cat'?" in checked.stdout
    assert "FS3301 empty has no usable images" in checked.stdout
    assert "leave these files out with max_bad = 0.06 in [sites]" in checked.stdout

    short = "--set stages.0.rounds=1 --set stages.1.rounds=1 --set model.width=4"
    options = ["run", "federation.toml", "--workers", "1", *short.split()]
    stopped = runner.invoke(app, options)
    assert isinstance(stopped.exception, DataError)
    assert stopped.exception.code == "FS3101"

    done = runner.invoke(app, [*options, "--set", "sites.max_bad=0.06"])
    assert done.exit_code == 0, done.exception
    assert "clinic-ä: 2 left out" in done.stdout
    assert "all 7 are listed in runs/federation/left_out.csv" in done.stdout
    assert "client 3 = empty: 0 labeled, 0 unlabeled" in done.stdout
    out = tmp_path / "runs" / "federation"
    assert (out / "model.safetensors").exists()
    listed = (out / "left_out.csv").read_text().splitlines()
    assert len(listed) == 1 + 3 * 2 + 1
    last = json.loads((out / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["clients"]["3"]["contribution"] == 0
    assert last["clients"]["2"]["pseudo_label_accuracy"] is None


def test_manifest_is_written_and_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for number in range(20):
        label = number // 10
        save_digit(tmp_path / "a" / ("cat", "dog")[label], label, number, rng)
    runner = CliRunner()
    first = runner.invoke(app, ["check", "a", "--write-manifest"])
    assert first.exit_code == 0 and "wrote a/fedsemi-manifest.json" in first.stdout
    runner.invoke(app, ["init", "a"])
    text = Path("federation.toml").read_text().replace('"off"', '"full"')
    Path("federation.toml").write_text(text)
    assert runner.invoke(app, ["check", "federation.toml"]).exit_code == 0
    victim = sorted((tmp_path / "a" / "cat").glob("*.png"))[0]
    content = bytearray(victim.read_bytes())
    content[-1] ^= 1
    victim.write_bytes(content)
    again = runner.invoke(app, ["check", "federation.toml"])
    assert again.exit_code == 65 and "sha256 differs" in again.stdout


def test_init_does_not_replace_a_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("federation.toml").write_text("mine")
    (tmp_path / "a").mkdir()
    result = CliRunner().invoke(app, ["init", "a"])
    assert isinstance(result.exception, CannotCreate)
    assert Path("federation.toml").read_text() == "mine"


def test_init_without_classes_says_how_to_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    result = CliRunner().invoke(app, ["init", "a"])
    assert isinstance(result.exception, DataError)
    assert "sub-folder for each class" in str(result.exception)
