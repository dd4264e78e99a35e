"""A run, what it is measured against, and the sentence about both."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.test_train import CONFIG
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.errors import ConfigError


def test_a_run_ends_with_what_the_unlabeled_sites_brought(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(CONFIG)
    runner, ends = CliRunner(), []
    for words in (["small.toml", "--out", "out"], ["--labels-only", "out"]):
        done = runner.invoke(app, ["run", *words, "--workers", "1"])
        assert done.exit_code == 0, done.output
        ends.append(done.output.splitlines()[-1])
        assert all(line.isprintable() for line in done.output.splitlines())
    before, after = ends
    assert "`fedsemi run --labels-only out" in before and "` trains it." in before
    assert "labels alone" in after and "95 % interval" in after


def test_settings_beside_labels_only_are_refused(tmp_path: Path) -> None:
    words = ["run", "--labels-only", str(tmp_path), "--set", "seed=2"]
    refused = CliRunner().invoke(app, words)
    assert isinstance(refused.exception, ConfigError)
    assert "--labels-only DIR takes all settings" in str(refused.exception)
