"""What `fedsemi datasets` prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.data.datasets import DATASETS


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "svhn").mkdir()
    (tmp_path / "svhn" / "svhn.npz").touch()
    done = CliRunner().invoke(app, ["datasets", "--data-dir", str(tmp_path)])
    assert done.exit_code == 0
    return done.output


def test_sources_and_licenses_are_named_for_all_data_sets(printed: str) -> None:
    words = " ".join(printed.split())
    for source in DATASETS.values():
        assert f"{source.license} {source.where}" in words
    assert max(map(len, printed.splitlines())) <= 80


def test_it_says_what_is_at_hand_and_where_it_looked(
    printed: str, tmp_path: Path
) -> None:
    rows = [line.split() for line in printed.splitlines()]
    at_hand = {row[0]: row[-1] for row in rows if row and row[-1] in ("yes", "no")}
    assert at_hand["digits"] == at_hand["svhn"] == "yes"
    assert at_hand["mnist"] == "no"
    assert f"looked for in {tmp_path};" in printed.replace("\n", "")
