"""What is shipped can be listed, and copied to be changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fedsemi.cli import app
from fedsemi.config.experiment import load_config
from fedsemi.config.files import CONFIGS
from fedsemi.errors import CannotCreate, ConfigError


def configs(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["configs", *arguments], env={"COLUMNS": "200"})


def test_every_shipped_config_has_a_line_that_says_what_it_is() -> None:
    lines = [line.split() for line in configs().output.split("\n") if line.strip()]
    shown = {words[0]: " ".join(words[1:]) for words in lines}
    shipped = {
        path.relative_to(CONFIGS).with_suffix("").as_posix()
        for path in CONFIGS.rglob("*.toml")
    }
    assert shipped <= shown.keys()
    assert all(len(shown[name]) > 20 for name in shipped)


def test_a_copy_is_the_same_experiment_and_never_replaces_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "fedsemi run cpu-svhn.toml" in configs("cpu/svhn").output
    copied = load_config(tmp_path / "cpu-svhn.toml")
    assert copied == load_config(CONFIGS / "cpu" / "svhn.toml")
    assert isinstance(configs("cpu/svhn").exception, CannotCreate)


def test_a_slip_is_answered_with_the_nearest_name() -> None:
    found = configs("cpu/svhm").exception
    assert isinstance(found, ConfigError) and "'cpu/svhn'" in str(found)
