"""Where the bounds of a run are found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fedsemi.report.bounds import bound_of, bounds_of
from fedsemi.report.run import read_run

SUPERVISED = {"stages": [{"method": "supervised", "rounds": 3}]}
ALL = {"partition": {"num_clients": 4, "labeled_clients": "all"}}


def finish(folder: Path, accuracy: float, data: str = "same") -> Path:
    result = {"mean_of_last_10": {"accuracy": accuracy}, "last_round": {}}
    (folder / "summary.json").write_text(json.dumps({"result": result}))
    (folder / "manifest.json").write_text(json.dumps({"data_sha256": data}))
    return folder


def accuracies(found: dict[str, dict[str, Any]]) -> dict[str, float]:
    return {kind: each["scores"]["accuracy"] for kind, each in found.items()}


def test_bounds_are_told_from_other_runs(make_run) -> None:
    assert bound_of(read_run(make_run("low", **SUPERVISED))) == "lower"
    assert bound_of(read_run(make_run("up", **SUPERVISED, **ALL))) == "upper"
    assert bound_of(read_run(make_run("other"))) is None


def test_bounds_in_the_folders_beside_a_run_are_found(make_run) -> None:
    run = read_run(finish(make_run("method"), 0.7))
    finish(make_run("labels-only", **SUPERVISED), 0.5)
    finish(make_run("all-labels", **SUPERVISED, **ALL), 0.9)
    assert accuracies(bounds_of(run)) == {"lower": 0.5, "upper": 0.9}


def test_a_bound_below_the_folder_of_a_run_is_found(make_run) -> None:
    folder = finish(make_run("method"), 0.7)
    finish(make_run("alone", **SUPERVISED), 0.5).rename(folder / "labels-only")
    assert accuracies(bounds_of(read_run(folder))) == {"lower": 0.5}


def test_a_bound_is_averaged_over_as_many_tests_as_a_run_with_a_short_stage(
    make_run,
) -> None:
    stages = [{"method": "supervised", "rounds": 5}, {"method": "fedavg", "rounds": 1}]
    folder = finish(make_run("short", rounds=6, stages=stages), 0.7)
    log = folder / "metrics.jsonl"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    lines[-1] |= {"stage": 1, "round": 1}
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    longer = [{"method": "supervised", "rounds": 6}]
    finish(make_run("labels-only", rounds=6, stages=longer), 0.6)
    last = 0.5 + 0.4 * 5 / 6  # of the sixth record that the fixture makes
    assert accuracies(bounds_of(read_run(folder))) == {"lower": pytest.approx(last)}


def test_a_folder_that_cannot_be_compared_is_no_bound(make_run) -> None:
    run = read_run(finish(make_run("method"), 0.7))
    finish(make_run("other-data", **SUPERVISED), 0.1, data="other")
    finish(make_run("other-seed", seed=9, **SUPERVISED), 0.2)
    finish(make_run("other-rate", local={"lr_labeled": 0.5}, **SUPERVISED), 0.2)
    longer = [{"method": "supervised", "rounds": 9}]
    finish(make_run("longer", stages=longer), 0.3)
    make_run("unfinished", **SUPERVISED)
    damaged = finish(make_run("damaged", **SUPERVISED), 0.4)
    (damaged / "summary.json").write_text("{")
    assert bounds_of(run) == {}


def test_a_bound_that_is_given_counts_before_one_that_is_found(make_run) -> None:
    run = read_run(finish(make_run("method"), 0.7))
    finish(make_run("beside", **SUPERVISED), 0.5)
    given = read_run(finish(make_run("given", seed=5, **SUPERVISED), 0.6))
    assert accuracies(bounds_of(run, [given])) == {"lower": 0.6}
    assert bounds_of(given, [run]) == {}  # a bound has none
