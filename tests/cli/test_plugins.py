"""`fedsemi plugins` shows what was found, from where, and what is broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fedsemi.cli import app

RULE = """
from fedsemi.contributions import by_data_size
from fedsemi.methods.averaging import Averaging

class BySize(Averaging):
    def contributions(self, updates):
        return by_data_size(updates)
"""
ENTRIES = """
[fedsemi.methods]
by-size = shown_rule:BySize
semianagg = shown_rule:BySize
[fedsemi.models]
net = shown_rule:Missing
[fedsemi.learners]
wrong = shown_rule:BySize
[fedsemi.datasets]
data = no_such_module:load
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLUMNS", "240")
    (tmp_path / "shown_rule.py").write_text(RULE)
    return tmp_path


def shown(*arguments: str) -> str:
    return CliRunner().invoke(app, ["plugins", *arguments]).output


def test_without_any_it_says_where_to_read(folder: Path) -> None:
    assert shown().startswith("none; a package announces plug-ins by entry points")


def test_what_a_package_announces_is_listed_and_what_is_broken_explained(
    folder: Path,
) -> None:
    info = folder / "shown_pack-2.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: shown-pack\nVersion: 2.1\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    lines = [line.strip() for line in shown().splitlines()]
    found = {tuple(line.split()[:2]): line for line in lines}
    assert "shown-pack, shown_rule:BySize" in found["method", "by-size"]
    assert " 2.1 " in found["method", "by-size"]
    assert found["method", "semianagg"].endswith("hidden by fedsemi's own")
    assert "broken: FS4160 the model 'net' cannot be" in found["model", "net"]
    assert "broken: FS4161 the learner 'wrong' is no" in found["learner", "wrong"]
    assert "FS4160 the data set 'data' cannot be" in found["data", "set"]


def test_those_of_a_config_are_listed(folder: Path) -> None:
    config = folder / "own.toml"
    config.write_text(
        'data = { name = "synthetic" }\nmodel = { name = "resnet8" }\n'
        '[[stages]]\nmethod = "shown_rule:BySize"\nrounds = 1\n'
    )
    (line,) = [line for line in shown(str(config)).splitlines() if "BySize" in line]
    assert line.split()[:3] == ["method", "shown_rule:BySize", "shown_rule"]
