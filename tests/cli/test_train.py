from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.cli.commands import PANELS
from fedsemi.cli.train import _result_table
from fedsemi.errors import ConfigError, FedSemiError, StorageError
from fedsemi.report.run import read_run
from fedsemi.text.screen import Screen

CONFIG = """
seed = 3
[data]
name = "synthetic"
train_limit = 160
test_limit = 60
[partition]
num_clients = 4
min_size = 5
[model]
name = "resnet8"
width = 4
[local]
batch_size = 16
[[stages]]
method = "supervised"
rounds = 1
[[stages]]
method = "semianagg"
rounds = 1
learner = { cutoff = 0.3 }
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(CONFIG)
    return path


def fedsemi(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fedsemi", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "120"},
        timeout=120,
    )


def test_a_run_keeps_everything_needed_to_read_it(config: Path, tmp_path: Path) -> None:
    done = fedsemi("run", config, "--workers", 1, "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    out = tmp_path / "out"
    manifest = json.loads((out / "manifest.json").read_text())
    for name in ("data_sha256", "partition_sha256", "config_sha256"):
        assert len(manifest[name]) == 64
    assert [h is not None for h in manifest["anchor_sha256"]] == [False, True]
    assert len((out / "metrics.jsonl").read_text().splitlines()) == 2
    summary = json.loads((out / "summary.json").read_text())
    assert set(summary["result"]) >= {
        "last_round",
        "mean_of_last_10",
        "best_round_on_test_set",
    }
    assert (out / "model.safetensors").stat().st_size > 1000
    assert json.loads((out / "config.json").read_text())["seed"] == 3
    assert "stage 2/2 semianagg round 1/1" in done.stdout
    assert done.stdout.count("mean of the last 1 ") == 2  # there are no ten tests


def test_a_run_under_a_card_says_where_it_departs_from_its_papers(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    few = ["--set", "setting.card=LAC", "--set", "setting.labels_per_class=2"]
    done = CliRunner().invoke(app, ["run", str(config), *few, "--workers", "1"])
    assert done.exit_code == 0, done.output
    (line,) = [each for each in done.output.splitlines() if "behind card" in each]
    assert line.endswith(
        "card LAC: participation is 1, not 0.4; local.epochs is 1, not 5; "
        "setting.labels_per_class is 2, not 5"
    )


def test_classes_that_nobody_has_labeled_are_named_before_the_first_round(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    alone = ["--set", "partition.dirichlet_alpha=0.0001", "--set", "partition.seed=1"]
    for words in (["run", "--workers", "1"], ["partition"]):
        done = CliRunner().invoke(app, [words[0], str(config), *alone, *words[1:]])
        assert done.exit_code == 0, done.output
        told, _, rest = done.output.partition("cannot learn them")
        assert "warning FS3405 nobody has a labeled image of " in told
        assert "round 1/1" not in told and rest


def test_a_users_mistake_gives_one_line_and_no_traceback(
    config: Path, tmp_path: Path
) -> None:
    done = fedsemi("run", config, "--set", "stages.1.ronds=3", cwd=tmp_path)
    assert done.returncode == 64
    assert done.stderr.count("\n") == 1
    assert "did you mean 'rounds'" in done.stderr


def test_a_missing_data_set_says_where_it_was_looked_for_and_what_to_do(
    config: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    override = ("--set", "data.name=cifar10", "--data-dir", empty)
    done = fedsemi("run", config, *override, cwd=tmp_path)
    assert done.returncode == 65
    assert str(empty) in done.stderr
    assert "cifar-10-binary.tar.gz" in done.stderr


def test_the_partition_is_shown_and_saved(config: Path, tmp_path: Path) -> None:
    done = fedsemi("partition", config, "--out", "shown", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "SHA-256" in done.stdout
    assert (tmp_path / "shown" / "partition.png").stat().st_size > 5000
    assert (tmp_path / "shown" / "partition.json").exists()


def test_help_names_every_command(tmp_path: Path) -> None:
    shown = fedsemi("--help", cwd=tmp_path).stdout
    named = {line.split()[1] for line in shown.splitlines() if len(line.split()) > 1}
    commands = {e.name for entries in PANELS.values() for e in entries}
    assert len(commands) >= 25
    assert commands <= named


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give a config, or a run with --resume DIR"),
        (["c.toml", "--fork"], "--fork needs --resume DIR"),
        (["c.toml", "--resume", "a", "--fork"], "--fork needs another folder"),
        (
            ["c.toml", "--resume", "a", "--fork", "--out", "./a"],
            "--fork needs another folder",
        ),
        (["c.toml", "--resume", "a", "--out", "b"], "--resume continues in 'a'"),
    ],
)
def test_options_that_contradict_are_named_before_anything_is_read(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["run", *words])
    assert isinstance(done.exception, ConfigError)
    assert done.exception.code == "FS4107" and said in str(done.exception)
    assert not list(tmp_path.iterdir())


def test_a_slip_in_the_name_of_a_run_to_continue_begins_no_other(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["run", "small.toml", "--resume", "runs/slip"])
    assert isinstance(done.exception, StorageError)
    assert "FS1110 'runs/slip' is not the folder of a run" in str(done.exception)
    assert not Path("runs").exists()


def test_the_run_of_a_coordinator_is_continued_by_the_coordinator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("coordinator/run", "coordinator/enrolled"):
        Path(folder).mkdir(parents=True)
    Path("coordinator/plan.json").touch()
    done = CliRunner().invoke(app, ["run", "--resume", "coordinator/run"])
    assert isinstance(done.exception, ConfigError)
    assert done.exception.code == "FS1125"
    assert "`fedsemi server coordinator`" in str(done.exception)


def test_a_run_without_a_name_is_called_after_its_config(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["run", "small.toml", "--workers", "1", "--set", "stages.1.rounds=0"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.exception
    assert (tmp_path / "runs" / "small" / "summary.json").is_file()
    assert "records in runs/small" in done.output
    again = CliRunner().invoke(app, words)
    assert isinstance(again.exception, FedSemiError)
    assert again.exception.code == "FS1402"
    assert CliRunner().invoke(app, [*words, "--overwrite"]).exit_code == 0


def scores(accuracy: float, auc: float | None) -> dict[str, float | None]:
    return {"accuracy": accuracy, "balanced_accuracy": accuracy / 2, "auc": auc}


def test_the_last_table_says_how_many_tests_its_mean_is_of(real_run: Path) -> None:
    stage = {
        "stage": 1,
        "method": "semianagg",
        "last_round": scores(0.5, 0.75),
        "mean_of_last_10": scores(0.25, None),
        "best_round_on_test_set": scores(1.0, 1.0),
    }
    console = Screen(file=StringIO(), width=100)
    console.print(_result_table({"stages": [stage]}, read_run(real_run)))
    assert isinstance(console.file, StringIO)
    rows = [" ".join(line.split()) for line in console.file.getvalue().splitlines()]
    assert rows[1:] == [
        "2 semianagg last round 50.00% 25.00% 75.00%",
        "2 semianagg mean of the last 2 25.00% 12.50% –",
        "2 semianagg best round on test set 100.00% 50.00% 100.00%",
    ]
