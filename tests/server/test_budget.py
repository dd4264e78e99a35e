"""A run stops before the round that would exceed its budget, and forgets nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fedsemi.accounting import epsilon
from fedsemi.cli import app
from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError
from fedsemi.runs.reading import read_records
from fedsemi.server.budget import Course
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation


def content(**privacy: Any) -> dict[str, Any]:
    """Rounds of cost 1/4 and then of 1/4 + 1/16: ε at δ = 1e-5 is known by hand."""
    settings = {"noise_multiplier": 2.0, "statistics_noise": 4.0, "clip": 0.1}
    return {
        "seed": 3,
        "data": {"name": "synthetic", "train_limit": 48, "test_limit": 8},
        "partition": {"num_clients": 3},
        "model": {"name": "resnet8", "width": 2},
        "local": {"batch_size": 16},
        "privacy": settings | privacy,
        "stages": [
            {"method": "supervised", "rounds": 2},
            {"method": "semianagg", "rounds": 4},
        ],
    }


def run(**privacy: Any) -> list[Any]:
    return [
        step.record
        for step in run_simulation(build(make_experiment(content(**privacy))))
    ]


def test_every_round_adds_its_cost_over_all_stages() -> None:
    records = run()
    costs = [record.privacy.cost for record in records]
    assert costs == [0.25, 0.5, 0.8125, 1.125, 1.4375, 1.75]
    assert [r.privacy.epsilon for r in records] == [epsilon(c, 1e-5) for c in costs]
    assert {record.privacy.covers for record in records} == {"model"}
    assert all(record.privacy.stops is None for record in records)


def test_the_run_stops_before_the_round_that_would_be_too_much() -> None:
    """ε is 4.11 after round 1 of stage 2, and 4.7 after the next one."""
    whole = run()
    most = (whole[2].privacy.epsilon + whole[3].privacy.epsilon) / 2
    records = run(budget_epsilon=most)
    assert len(records) == 3
    told = records[-1].privacy.stops
    assert told.startswith("FS6112 stopped before round 2 of stage 2, with which ε")
    assert records[-1].test is not None
    assert records[-1].privacy.epsilon <= most
    assert [r.privacy.stops for r in records[:-1]] == [None, None]


def test_a_budget_that_ends_with_a_stage_stops_there() -> None:
    records = run(budget_epsilon=epsilon(0.5, 1e-5) + 1e-6)
    assert [(r.stage, r.round) for r in records] == [(0, 1), (0, 2)]
    assert "before round 1 of stage 2" in records[-1].privacy.stops


def test_a_budget_that_just_fits_lets_all_rounds_through() -> None:
    records = run(budget_epsilon=epsilon(1.75, 1e-5))
    assert len(records) == 6 and records[-1].privacy.stops is None


def test_a_budget_below_one_round_is_told_before_anything_runs() -> None:
    with pytest.raises(ConfigError, match=r"FS6113 one round costs ε = 1\.99"):
        run(budget_epsilon=1.0)


def test_noise_on_the_statistics_alone_has_its_own_epsilon() -> None:
    records = run(noise_multiplier=0.0)
    assert [r.privacy.cost for r in records] == [0, 0, 1 / 16, 2 / 16, 3 / 16, 4 / 16]
    assert {record.privacy.covers for record in records} == {"statistics"}


def test_an_account_does_not_begin_in_the_middle_of_a_run() -> None:
    course = Course.of(build(make_experiment(content())))
    course.check_continued(0, 0)
    course.check_continued(2, 2)
    with pytest.raises(ConfigError, match="FS6110 of the 3 rounds before, 1 were made"):
        course.check_continued(3, 2)


def forked(source: Path, out: Path, rounds: int, **privacy: Any) -> Path:
    """Run as many rounds of SemiAnAgg in all, from a run's last round if there is one.

    Noise is on statistics alone unless told otherwise.
    """
    settings = {"noise_multiplier": 0.0, "statistics_noise": 4.0, "clip": 0.1}
    stages = [{"method": "semianagg", "rounds": rounds}]
    config = out.with_suffix(".json")
    config.write_text(
        json.dumps({**content(), "privacy": settings | privacy, "stages": stages})
    )
    more = ["--resume", str(source), "--fork"] if source != out else []
    done = CliRunner().invoke(
        app, ["run", str(config), *more, "--out", str(out), "--workers", "1"]
    )
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return out


def test_rounds_with_noise_on_statistics_alone_are_in_no_account_of_the_model(
    tmp_path: Path,
) -> None:
    """They have cost something, and yet their models have no noise."""
    cheap = forked(tmp_path / "cheap", tmp_path / "cheap", 1)
    with pytest.raises(ConfigError, match="FS6110 of the 1 rounds before, 1 were"):
        forked(cheap, tmp_path / "noisy", 2, noise_multiplier=2.0)


def test_a_run_that_did_without_noise_for_a_while_has_no_account_any_more(
    tmp_path: Path,
) -> None:
    first = forked(tmp_path / "a", tmp_path / "a", 1, noise_multiplier=2.0)
    again = forked(first, tmp_path / "b", 2, noise_multiplier=2.0)
    assert json.loads((again / "summary.json").read_text())["privacy"]
    bare = forked(again, tmp_path / "c", 3, statistics_noise=0.0)
    with pytest.raises(ConfigError, match="FS6110 of the 3 rounds before, 1 were"):
        forked(bare, tmp_path / "d", 4, noise_multiplier=2.0)


def test_without_noise_nothing_is_told() -> None:
    plan = build(make_experiment({**content(), "privacy": {}}))
    assert Course.of(plan).record(0, 1, 0.0) is None


def _command(folder: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "fedsemi", "run", *more, "--workers", "1"]


@pytest.mark.slow
def test_a_killed_run_goes_on_with_what_it_spent_and_stops_at_the_same_round(
    tmp_path: Path,
) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps(content(budget_epsilon=4.6)))
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run(_command(tmp_path, str(config), "--out", str(whole)), check=True)
    victim = subprocess.Popen(_command(tmp_path, str(config), "--out", str(killed)))
    end = time.monotonic() + 120
    while not any(killed.glob("ckpt-*")) and time.monotonic() < end:
        time.sleep(0.02)
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait()
    done = subprocess.run(
        _command(tmp_path, "--resume", str(killed)),
        check=True,
        capture_output=True,
        text=True,
    )
    assert "FS6112 stopped before round" in done.stdout
    runs = [json.loads((f / "summary.json").read_text()) for f in (whole, killed)]
    assert runs[0]["model_sha256"] == runs[1]["model_sha256"]
    assert runs[0]["privacy"] == runs[1]["privacy"]
    assert runs[0]["privacy"]["epsilon"] <= 4.6
    records = [read_records(f / "metrics.jsonl") for f in (whole, killed)]
    spent = [[record.privacy for record in each] for each in records]
    assert spent[0] == spent[1]
    # Once more: nothing is left to spend, and nothing is spent.
    again = subprocess.run(
        _command(tmp_path, "--resume", str(killed)), capture_output=True, text=True
    )
    assert again.returncode == 0, again.stderr
    assert len(read_records(killed / "metrics.jsonl")) == len(records[0])
