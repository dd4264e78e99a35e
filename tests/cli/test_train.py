from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fedsemi.cli.commands import PANELS

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
