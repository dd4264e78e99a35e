"""As a new user would: a messy federation from `init` to a trained model."""

import json
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.data.pictures import make_site
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.config.experiment import load_config
from fedsemi.errors import CannotCreate, DataError, Mismatch

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
    written = load_config(Path("federation.toml"))
    assert written.guard.enabled
    settings = written.sites
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


def screen(*words: str) -> str:
    """Return what a command prints, its lines joined."""
    result = CliRunner().invoke(app, list(words), env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.exception
    return " ".join(result.stdout.split())


def test_init_lists_the_classes_and_says_what_it_took_for_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_site(tmp_path / "a", {"cat": 10, "dog": 10, "dgo": 1, "eel": 1})
    make_site(tmp_path / "b", {"x-rays": 3})
    make_site(tmp_path / "t", {"cat": 2, "dog": 1})
    told = screen("init", "a", "b", "--test", "t")
    assert "classes, the test folder included: cat 12, dog 11, eel 1" in told
    assert "taken for typing slips, not classes: dgo (dog)" in told
    assert "b: taken as unlabeled, since no other site knows its sub-folders" in told
    assert "warning: the test folder has no 'eel' as a has" in told


def test_init_on_the_folder_above_the_sites_names_the_command_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b c", "test-set"):
        make_site(tmp_path / name, {"cat": 2, "dog": 2})
    told = screen("init", ".")
    command = "init a 'b c' --test test-set --out federation.toml --force"
    assert told.startswith("1 site, 3 classes") and f"fedsemi {command}" in told
    told = screen(*shlex.split(command))
    assert told.startswith("2 sites, 2 classes") and "folder of sites" not in told


def test_unlabeled_folder_can_be_checked_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    site = make_site(tmp_path / "c", {"": 3, "2024": 3})
    (site / "bad.png").write_bytes(b"nothing")
    shutil.copy(site / "0.png", site / "copy.png")
    result = CliRunner().invoke(app, ["check", "c"])
    assert result.exit_code == 65
    assert "FS3101 c: 1 of 8 images are unusable" in result.stdout
    assert "FS3402 1 exact duplicates" in result.stdout
    assert len(Path("runs/check/problems.csv").read_text().splitlines()) == 2
    (site / "bad.png").unlink()
    told = screen("check", "c")
    assert "FS3303 classes here: 0, training needs two" in told
    assert told.endswith("the images can be used")


def test_check_shows_all_classes_in_80_columns_and_the_time_of_all_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"class-with-a-long-name-{number}" for number in range(5)]
    make_site(tmp_path / "a", dict.fromkeys(names, 3))
    screen("init", "a")
    told = screen("check", "federation.toml")
    assert ", ".join(f"{name} 3" for name in names) in told
    assert "all 60 rounds about" in told


def test_check_says_where_a_config_departs_from_the_papers_of_its_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_site(tmp_path / "a", {"cat": 3, "dog": 3})
    screen("init", "a")
    assert "papers behind card" not in screen("check", "federation.toml")
    config = tmp_path / "federation.toml"
    config.write_text(config.read_text() + '\n[setting]\ncard = "LAC"\n')
    told = " ".join(screen("check", "federation.toml").split())
    assert "papers behind card LAC: participation is 1, not 0.4; local.epochs" in told


def test_resume_after_an_image_is_gone_names_its_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_site(tmp_path / "a", {"cat": 7, "dog": 6})
    make_site(tmp_path / "b", {"": 4}, start=50)
    make_site(tmp_path / "t", {"cat": 2, "dog": 2}, start=90)
    screen("init", "a", "b", "--test", "t")
    short = "--set stages.0.rounds=1 --set stages.1.rounds=0 --set model.width=4"
    screen("run", "federation.toml", "--workers", "1", *short.split())
    (tmp_path / "b" / "50.png").unlink()
    result = CliRunner().invoke(app, ["run", "--resume", "runs/federation"])
    assert isinstance(result.exception, Mismatch)
    assert "labeled_share 0.7647 → 0.8125" in str(result.exception)
    assert str(result.exception).endswith(" (images: b 4 → 3)")


def test_init_names_links_that_it_does_not_follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_site(tmp_path / "a", {"cat": 4, "dog": 4})
    make_site(tmp_path / "elsewhere", {"eel": 2})
    (tmp_path / "a" / "eel").symlink_to(tmp_path / "elsewhere" / "eel")
    assert "a: eel is a link and not followed; copy the pictures" in screen("init", "a")
