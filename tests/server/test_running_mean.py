"""The running mean of the global model: what it is, and that it disturbs nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError, Mismatch
from fedsemi.runs.checkpoint import Cursor
from fedsemi.runs.folder import RunFolder
from fedsemi.runs.manifest import check_forkable
from fedsemi.server.running_mean import moved
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation
from fedsemi.use.session import record_run, run_and_record
from fedsemi.weights import digest


def test_the_mean_keeps_its_part_and_takes_the_rest_of_the_new_model() -> None:
    mean = {"w": torch.tensor([1.0]), "steps": torch.tensor(3)}
    new = {"w": torch.tensor([2.0]), "steps": torch.tensor(7)}
    # 0.85 * 1 + 0.15 * 2; counters are the new model's.
    found = moved(mean, new, keep=0.85)
    assert torch.allclose(found["w"], torch.tensor([1.15]))
    assert int(found["steps"]) == 7


def test_keeping_a_mean_changes_no_bit_of_the_model(
    small_config: dict[str, Any],
) -> None:
    plain = list(run_simulation(build(make_experiment(small_config))))
    kept = small_config | {"evaluation": {"running_mean": 0.5}}
    averaged = list(run_simulation(build(make_experiment(kept))))
    assert digest(averaged[-1].weights) == digest(plain[-1].weights)
    assert plain[-1].record.running_mean is None
    assert averaged[-1].record.as_json()["running_mean"].keys() >= {"accuracy", "auc"}


def test_the_mean_begins_anew_with_each_stage(small_config: dict[str, Any]) -> None:
    kept = small_config | {"evaluation": {"running_mean": 0.25}}
    steps = list(run_simulation(build(make_experiment(kept))))
    before, first = steps[1], steps[2]
    assert (before.record.stage, first.record.stage) == (0, 1)
    expected = moved(before.weights, first.weights, keep=0.25)
    assert digest(first.state.running_mean) == digest(expected)


def test_the_mean_begins_with_the_stage_also_where_a_round_has_phases(
    small_config: dict[str, Any],
) -> None:
    stages = [*small_config["stages"][:1], {"method": "semifl", "rounds": 1}]
    kept = {"evaluation": {"running_mean": 0.25}, "stages": stages}
    *_, before, first = run_simulation(build(make_experiment(small_config | kept)))
    assert first.record.method == "semifl"  # its labeled clients learn twice in it
    expected = moved(before.weights, first.weights, keep=0.25)
    assert digest(first.state.running_mean) == digest(expected)


def delivering(config: dict[str, Any]) -> dict[str, Any]:
    evaluation = {"running_mean": 0.25, "delivers": "running-mean"}
    return config | {"evaluation": evaluation}


def test_a_run_that_delivers_the_mean_is_tested_by_it(
    small_config: dict[str, Any],
) -> None:
    kept = small_config | {"evaluation": {"running_mean": 0.25}}
    beside = list(run_simulation(build(make_experiment(kept))))
    steps = list(run_simulation(build(make_experiment(delivering(small_config)))))
    for step, other in zip(steps, beside, strict=True):
        assert other.record.test is not None and other.record.running_mean is not None
        assert step.record.as_json()["auc"] == other.record.running_mean.auc
        assert step.record.running_mean is None  # it is the test itself
        also = step.record.also_tested["global model"]
        assert also == other.record.test.accuracy
    assert digest(steps[-1].weights) == digest(beside[-1].weights)


def test_the_mean_is_what_a_run_leaves_behind_also_if_it_was_resumed(
    small_config: dict[str, Any], tmp_path: Path
) -> None:
    simulation = build(make_experiment(delivering(small_config)))
    last, summary = run_and_record(simulation, tmp_path, "", 1, Console(quiet=True))
    assert summary["model_sha256"] == digest(last.state.running_mean)
    assert summary["model_sha256"] != digest(last.weights)
    assert last.record.test is not None
    assert summary["result"]["last_round"]["accuracy"] == last.record.test.accuracy
    tested = json.loads((tmp_path / "evaluation.json").read_text())
    assert tested["model_sha256"] == summary["model_sha256"]
    (tmp_path / "summary.json").unlink()  # broken off at the very end
    (tmp_path / "model.safetensors").unlink()
    with RunFolder.resume(tmp_path, simulation) as folder:
        steps = run_simulation(simulation, 1, folder.start)
        _, again = record_run(folder, simulation, steps, "", Console(quiet=True))
    assert again["model_sha256"] == summary["model_sha256"]


def test_no_mean_can_be_delivered_that_is_not_kept(
    small_config: dict[str, Any],
) -> None:
    content = small_config | {"evaluation": {"delivers": "running-mean"}}
    with pytest.raises(ConfigError, match=r"FS4105 .*'evaluation.running_mean'"):
        make_experiment(content)


def test_a_plan_from_before_there_was_a_choice_keeps_its_name(
    small_config: dict[str, Any],
) -> None:
    plain = build(make_experiment(small_config)).as_json()
    assert "delivers" not in json.loads(plain)["experiment"]["evaluation"]
    mean = json.loads(build(make_experiment(delivering(small_config))).as_json())
    assert mean["experiment"]["evaluation"]["delivers"] == "running-mean"


def test_a_fork_cannot_deliver_another_model_than_its_tests_are_of() -> None:
    cursor = Cursor(2, 0, 2, 0, "")
    mean = {"config": {"evaluation": {"delivers": "running-mean"}}}
    plain = {"config": {"evaluation": {"delivers": "global"}}}
    before: dict[str, Any] = {"config": {"evaluation": {}}}
    check_forkable(before, plain, cursor)  # an older run had no choice
    for recorded, now in ((before, mean), (plain, mean), (mean, plain)):
        with pytest.raises(Mismatch, match=r"FS1303 cannot fork: evaluation.delivers"):
            check_forkable(recorded, now, cursor)
