"""What `fedsemi leak` asks, prints and saves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.errors import ConfigError
from fedsemi.leakage import records
from fedsemi.leakage.lab import Cell, Scale

CONFIG = """
[data]
name = "synthetic"
train_limit = 80
[model]
name = "resnet8"
[[stages]]
method = "semianagg"
rounds = 1
"""


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Scale]:
    """Measure nothing; a model tells all, its sum over three sites nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    Path("c.toml").write_text(CONFIG)
    scales: list[Scale] = []

    def job(experiment: Any, data: Any, scale: Scale, folder: Path) -> Iterator[Cell]:
        scales.append(scale)
        for form, value in (("plain", 0.9), ("sum of 3", 0.5)):
            where = "unlabeled", "model", form
            yield Cell("classes", *where, value, 0.5, "linear, head bias")

    monkeypatch.setattr(records, "run_job", job)
    return scales


def run(*words: str) -> Any:
    return CliRunner().invoke(app, ["leak", "c.toml", *words])


def test_a_table_and_a_sentence_say_what_the_server_learns(lab: list[Scale]) -> None:
    done = run("--seeds", "2", "--methods", "semianagg,fedavg-semi")
    assert done.exit_code == 0, done.exception
    assert "[4/4] fedavg-semi seed 2: measured" in done.output
    assert "Which classes a site owns" in done.output
    assert ".90±.00" in done.output and "Σ3" in done.output
    assert "90% of the time" in done.output and "apart from a guess" in done.output


def test_tables_are_saved_and_nothing_is_measured_twice(lab: list[Scale]) -> None:
    run("--seeds", "1", "--methods", "semianagg", "--out", "mine")
    done = run("--seeds", "1", "--methods", "semianagg", "--out", "mine")
    assert "semianagg seed 1: known already" in done.output and len(lab) == 1
    assert {path.name for path in Path("mine").iterdir()} == {
        "semianagg-1.json",
        "leak.md",
        "leak.csv",
    }
    text = Path("mine/leak.md").read_text()
    assert "| semianagg, unlabeled | model update | 0.50 | 0.90 |" in text


def test_sums_sites_and_noise_are_what_was_asked_for(lab: list[Scale]) -> None:
    words = ["--sites", "25", "--sums", "4, 8", "--noise", "0"]
    run("--seeds", "1", "--methods", "semianagg", *words)
    assert lab == [Scale(sites=25, sums=(4, 8), noise=0.0)]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--methods", "semianag"], "FS4104", "did you mean 'semianagg'?"),
        (["--sums", "1,3"], "FS6304", "numbers of sites from 2 on"),
    ],
)
def test_a_slip_is_refused_before_anything_is_measured(
    words: list[str], code: str, said: str, lab: list[Scale]
) -> None:
    done = run(*words)
    assert isinstance(done.exception, ConfigError)
    assert done.exception.code == code and said in str(done.exception)
    assert not lab
