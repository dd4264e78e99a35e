"""What the commands that look at runs say."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.errors import CannotCreate


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
