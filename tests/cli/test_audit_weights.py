"""What `fedsemi audit-weights` prints and draws."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.errors import StorageError


def test_a_run_is_audited_and_drawn(real_run: Path, tmp_path: Path):
    out = tmp_path / "weights.png"
    done = CliRunner().invoke(
        app, ["audit-weights", str(real_run), "--rounds", "1", "--out", str(out)]
    )
    assert done.exit_code == 0, done.exception
    assert "rank correlation" in done.output and "semianagg moves" in done.output
    assert "Nowhere in the update do they differ from equal shares" in done.output
    assert out.read_bytes().startswith(b"\x89PNG")
    again = tmp_path / "again.png"
    record = str(out.with_suffix(".json"))
    done = CliRunner().invoke(
        app, ["audit-weights", record, "--rounds", "1", "--out", str(again)]
    )
    assert done.exit_code == 0, done.exception
    assert again.with_suffix(".json").read_bytes() == Path(record).read_bytes()


def test_a_folder_without_a_model_is_refused(tmp_path: Path):
    done = CliRunner().invoke(app, ["audit-weights", str(tmp_path)])
    assert isinstance(done.exception, StorageError)
    assert "no trained model" in str(done.exception)
