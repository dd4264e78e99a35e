"""Labels alone, trained beside a run: cheaply, to the same bits, and to be resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Self

import pytest
from rich.console import Console

from fedsemi.config.experiment import Experiment, make_experiment
from fedsemi.config.labels_only import labels_only
from fedsemi.errors import ConfigError, Interrupted, Mismatch
from fedsemi.runs.folder import WARM_UP
from fedsemi.simulation.build import build
from fedsemi.use import session
from fedsemi.use.labels_only import train_labels_only
from fedsemi.use.session import run_and_record

QUIET = Console(quiet=True)


def train(run: Path) -> Path:
    return train_labels_only(run, build, 1, QUIET, "again")


def result(run: Path) -> tuple[str, int]:
    summary = json.loads((run / "summary.json").read_text())
    return summary["model_sha256"], len((run / "metrics.jsonl").read_text().split("\n"))


@pytest.fixture
def experiment(small_config: dict[str, Any]) -> Experiment:
    return make_experiment(small_config)


@pytest.fixture
def run(experiment: Experiment, tmp_path: Path) -> Path:
    run_and_record(build(experiment), tmp_path / "run", "run", 1, QUIET)
    return tmp_path / "run"


@pytest.fixture
def from_scratch(experiment: Experiment, tmp_path: Path) -> tuple[str, int]:
    scratch = tmp_path / "scratch"
    run_and_record(build(labels_only(experiment)), scratch, "alone", 1, QUIET)
    return result(scratch)


def count_rounds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    made: list[int] = []
    append = session.RunFolder.append

    def counted(folder: session.RunFolder, step: Any) -> None:
        made.append(step.record.round)
        append(folder, step)

    monkeypatch.setattr(session.RunFolder, "append", counted)
    return made


def test_the_warm_up_is_not_made_again_and_the_bits_are_the_same(
    run: Path, from_scratch: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = count_rounds(monkeypatch)
    assert result(train(run)) == from_scratch
    assert made == [3, 4]
    made.clear()
    train(run)
    assert made == [], "it is there"


def test_a_warm_up_of_other_views_is_gone_on_with_as_it_began(
    small_config: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_config["stages"][0]["views"] = "clean"
    experiment = make_experiment(small_config)
    run, scratch = tmp_path / "run", tmp_path / "scratch"
    run_and_record(build(experiment), run, "run", 1, QUIET)
    run_and_record(build(labels_only(experiment)), scratch, "alone", 1, QUIET)
    made = count_rounds(monkeypatch)
    assert result(train(run)) == result(scratch)
    assert made == [3, 4]
    config = json.loads((run / "labels-only" / "config.json").read_text())
    assert [stage["views"] for stage in config["stages"]] == ["clean"]


def test_without_the_kept_checkpoint_all_rounds_are_made(
    run: Path, from_scratch: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    (run / WARM_UP).write_bytes(b"damaged")
    made = count_rounds(monkeypatch)
    assert result(train(run)) == from_scratch
    assert made == [1, 2, 3, 4]


class Stopping(session.StopSignals):
    """Somebody has pressed Ctrl-C."""

    def __enter__(self) -> Self:
        self.asked = True
        return self


def test_what_was_stopped_goes_on(
    run: Path, from_scratch: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(session, "StopSignals", Stopping)
        with pytest.raises(Interrupted, match="again"):
            train(run)
    made = count_rounds(monkeypatch)
    assert result(train(run)) == from_scratch
    assert made == [4]


def test_a_run_on_labels_has_nothing_to_be_compared_with(
    experiment: Experiment, tmp_path: Path
) -> None:
    run_and_record(build(labels_only(experiment)), tmp_path, "alone", 1, QUIET)
    with pytest.raises(ConfigError, match="FS4180"):
        train(tmp_path)


def test_other_data_than_those_of_the_run_are_refused(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["data_sha256"] = "0" * 64
    (run / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(Mismatch, match="FS4181 data_sha256 are not those of"):
        train(run)
