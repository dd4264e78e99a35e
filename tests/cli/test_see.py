"""What the commands that look at runs say."""

from __future__ import annotations

import shutil
from pathlib import Path
from threading import Event

import pytest
from typer.testing import CliRunner

from fedsemi.cli import app, see
from fedsemi.errors import CannotCreate, StorageError


@pytest.mark.parametrize("out", [".", "a folder", ".."])
def test_a_report_cannot_take_the_place_of_a_folder(
    real_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a folder").mkdir()
    failed = CliRunner().invoke(app, ["report", str(real_run), "--out", out])
    assert isinstance(failed.exception, CannotCreate)
    assert (failed.exception.exit_code, failed.exception.code) == (73, "FS1200")
    assert f"'{out}' is a folder; give the name of a file" in str(failed.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["a folder"]


def test_a_report_of_two_runs_is_one_page_in_a_folder_that_it_makes(
    real_run: Path, tmp_path: Path
) -> None:
    again = shutil.copytree(real_run, tmp_path / "again")
    out = tmp_path / "new" / "page.html"
    words = ["report", str(real_run), str(again), "--out", str(out)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.exception
    page = out.read_text("utf-8")
    assert "small" in page and "again" in page
    size = len(page.encode()) / 1000
    assert f"saved {out} ({size:,.0f} kB, 2 runs)" in done.output


def test_a_folder_with_runs_in_it_is_reported_side_by_side(
    real_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("upper-bound", "lower-bound", "semianagg"):
        shutil.copytree(real_run, tmp_path / "demo" / name)
    (tmp_path / "demo" / "notes").mkdir()
    done = CliRunner().invoke(app, ["report", "demo"])
    assert done.exit_code == 0, done.exception
    assert "3 runs)" in done.output
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "fedsemi report: lower-bound, semianagg, upper-bound" in page


@pytest.mark.parametrize("command", ["watch", "diff"])
def test_a_command_for_one_run_names_those_that_a_folder_holds(
    command: str, real_run: Path, tmp_path: Path
) -> None:
    inner = shutil.copytree(real_run, tmp_path / "demo" / "semianagg")
    words = [str(tmp_path / "demo")] * (2 if command == "diff" else 1)
    failed = CliRunner().invoke(app, [command, *words])
    assert isinstance(failed.exception, StorageError)
    assert str(failed.exception).endswith(f"of which to give one: {inner}")


def test_a_run_differs_from_itself_in_nothing(real_run: Path) -> None:
    done = CliRunner().invoke(app, ["diff", str(real_run), str(real_run)])
    assert done.exit_code == 0, done.exception
    assert done.output.startswith("The settings are the same.")
    ends = [line.split()[-1] for line in done.output.splitlines() if "%" in line]
    assert ends and set(ends) == {"+0.00"}


@pytest.mark.parametrize("command", ["report", "watch"])
def test_a_folder_without_a_run_cannot_be_looked_at(
    command: str, tmp_path: Path
) -> None:
    failed = CliRunner().invoke(app, [command, str(tmp_path)])
    assert isinstance(failed.exception, StorageError)
    assert failed.exception.code == "FS1110"


def test_a_run_is_shown_until_it_is_stopped(
    real_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def stopped(self: Event, timeout: float | None = None) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("webbrowser.open", seen.append)
    monkeypatch.setattr(see, "Event", type("Stopped", (), {"wait": stopped}))
    done = CliRunner().invoke(app, ["watch", str(real_run), "--browser"])
    assert done.exit_code == 0, done.exception
    (address,) = seen
    assert address.startswith("http://127.0.0.1:") or "localhost" in address
    assert f"{real_run} is shown at {address}" in done.output
