"""What `fedsemi partition` prints and saves."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from fedsemi.cli import app


def test_a_partition_is_shown_and_saved_as_numbers_and_as_a_picture(
    tmp_path: Path,
) -> None:
    words = ["partition", "digits", "--set", "data.name=synthetic"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "p")])
    assert done.exit_code == 0, done.exception
    assert "disc" in done.output and "SHA-256 " in done.output
    assert json.loads((tmp_path / "p" / "partition.json").read_text())
    assert (tmp_path / "p" / "partition.png").stat().st_size > 1000
