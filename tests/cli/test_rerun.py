"""Continue, fork and run again from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from fedsemi.cli import main

CONFIG = """
seed = 3
[data]
name = "synthetic"
train_limit = 48
test_limit = 20
[partition]
num_clients = 2
labeled_clients = 1
[model]
name = "resnet8"
width = 2
[[stages]]
method = "supervised"
rounds = 2
"""


def test_a_folder_that_holds_no_run_cannot_be_continued(
    fedsemi: Any, tmp_path: Path
) -> None:
    code, text = fedsemi("run", "--resume", str(tmp_path))
    assert code == 74 and "FS1110" in text and "give what --out named" in text


@pytest.fixture
def fedsemi(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    """Run a command in this process; return its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(CONFIG)

    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["fedsemi", *arguments])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        return code, "".join(capsys.readouterr())

    assert run("run", "small.toml", "--out", "a", "--workers", "1")[0] == 0
    return run


def test_a_run_is_refused_other_settings_but_can_be_forked_and_run_again(
    fedsemi: Any, tmp_path: Path
) -> None:
    other = ("--set", "local.lr_labeled=0.5")
    code, text = fedsemi("run", "--resume", "a", "--workers", "1", *other)
    assert code == 64 and "FS1301" in text and "local.lr_labeled" in text

    fork = ("run", "--resume", "a", "--fork", "--out", "b", "--workers", "1")
    code, text = fedsemi(*fork, "--set", "model.width=3")
    assert code == 64 and "FS1303" in text
    assert not (tmp_path / "b").exists()

    code, text = fedsemi(*fork, *other, "--set", "stages.0.rounds=3")
    assert code == 0 and "FS1003 forked from" in text
    assert len((tmp_path / "b" / "metrics.jsonl").read_text().splitlines()) == 3

    code, text = fedsemi("rerun", "a", "--workers", "1")
    assert code == 0
    assert "same model_sha256" in text and "same metrics_sha256" in text


def test_a_fork_that_fails_names_the_file_and_can_be_tried_again(
    fedsemi: Any, tmp_path: Path
) -> None:
    fork = ("run", "--resume", "a", "--fork", "--out", "b", "--workers", "1")
    log = tmp_path / "a" / "metrics.jsonl"
    content = log.read_bytes()

    log.unlink()
    code, text = fedsemi(*fork)
    assert code == 74 and "FS1101 cannot read 'a/metrics.jsonl'" in text
    assert not (tmp_path / "b").exists()

    log.write_bytes(content[:-5])
    code, text = fedsemi(*fork)
    assert code == 74 and "FS1108" in text

    log.write_bytes(content)
    code, text = fedsemi(*fork, "--set", "stages.0.rounds=3")
    assert code == 0 and "FS1003 forked from" in text
