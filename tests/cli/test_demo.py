from __future__ import annotations

import io
import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.cli.demo import run_demo, upper_bound
from fedsemi.config.experiment import make_experiment
from fedsemi.config.labels_only import labels_only


def test_bounds_train_for_as_many_rounds(small_config: dict[str, Any]) -> None:
    experiment = make_experiment(small_config)
    for bound in (labels_only(experiment), upper_bound(experiment)):
        assert [stage.rounds for stage in bound.stages] == [4]
        assert bound.stages[0].method == "supervised"
    assert upper_bound(experiment).partition.labeled_clients == "all"


def test_who_has_not_activated_the_environment_is_told_how(
    small_config: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "my env" / "python"))
    (tmp_path / "my env").mkdir()
    (tmp_path / "my env" / "activate").touch()
    for path, told in (("", True), (str(tmp_path / "bin"), False)):
        command = tmp_path / "bin" / "fedsemi"
        command.parent.mkdir(exist_ok=True)
        command.touch(0o755)
        monkeypatch.setenv("PATH", path)
        console = Console(record=True, width=200)
        experiment = make_experiment(small_config)
        run_demo(experiment, tmp_path / f"demo-{told}", 1, console)
        found = f"once in this terminal: . '{tmp_path}/my env/activate'"
        assert (found in console.export_text()) is told


def test_what_the_demo_names_as_next_works_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FEDSEMI_DATA", raising=False)
    small = ["data.name=synthetic", "data.train_limit=160", "data.test_limit=40"]
    small += ["partition.scheme=dirichlet", "partition.num_clients=3"]
    small += ["partition.min_size=5", "model.width=2"]
    small += ["stages.0.rounds=1", "stages.1.rounds=1"]
    changes = [word for each in small for word in ("--set", each)]
    done = CliRunner().invoke(app, ["demo", *changes, "--workers", "1"])
    assert done.exit_code == 0, done.exception
    lines = done.output.split("next:\n")[1].splitlines()
    commands = [shlex.split(line, comments=True) for line in lines]
    assert [words[:2] for words in commands] == [
        ["fedsemi", "report"],
        ["fedsemi", "run"],
        ["fedsemi", "configs"],
    ]
    for words in commands:
        again = CliRunner().invoke(app, words[1:])
        assert again.exit_code == 0, again.exception
    assert (tmp_path / "report.html").is_file() and (tmp_path / "demo.toml").is_file()
    assert (tmp_path / "runs" / "demo-rscfed" / "summary.json").is_file()


def test_the_demo_compares_three_runs_and_keeps_them(
    small_config: dict[str, Any], tmp_path: Path
) -> None:
    screen = io.StringIO()
    console = Console(file=screen, width=120)

    results = run_demo(make_experiment(small_config), tmp_path, 1, console)

    shown = screen.getvalue()
    for word in ("lower bound", "semianagg", "upper bound", "contribution"):
        assert word in shown
    lower, ours, upper = (result.accuracy for result in results)
    assert f"closes {(ours - lower) / (upper - lower):.0%} of the gap" in shown
    for name in ("lower-bound", "semianagg", "upper-bound"):
        summary = json.loads((tmp_path / name / "summary.json").read_text())
        assert 0 <= summary["result"]["last_round"]["accuracy"] <= 1
