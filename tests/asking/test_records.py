"""Curves that are stopped go on; other settings need another folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fedsemi.asking import records as module
from fedsemi.asking.curve import NOBODY, Base, Point
from fedsemi.asking.records import Record, experiments, read_records, run_curves
from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError, StorageError

ARMS = [("coverage", 5), ("random", 5)]


@pytest.fixture
def runs(monkeypatch) -> list[Any]:
    """Stand in for training, and note what was to be trained."""
    done: list[Any] = []

    def base(simulation: Any) -> Base:
        done.append("base")
        return Base(simulation, {})

    def asked(base: Base, rule: str, budget: int) -> Point:
        done.append((rule, budget))
        return Point(rule, budget, {"accuracy": 1 / 3}, (budget, 0), 9, 1.23)

    monkeypatch.setattr(module, "run_base", base)
    monkeypatch.setattr(module, "run_asked", asked)
    return done


def test_each_seed_has_one_base_and_all_arms(
    runs: list[Any], small_config: dict[str, Any], tmp_path: Path
) -> None:
    found = list(run_curves(make_experiment(small_config), ARMS, 2, tmp_path))
    assert runs == ["base", (NOBODY, 0), *ARMS] * 2
    assert [record.seed for record, _, _ in found] == [1, 1, 1, 2, 2, 2]
    assert all(new for _, _, new in found)


def test_what_is_known_is_not_run_again(
    runs: list[Any], small_config: dict[str, Any], tmp_path: Path
) -> None:
    experiment = make_experiment(small_config)
    list(run_curves(experiment, ARMS[:1], 1, tmp_path))
    runs.clear()
    found = list(run_curves(experiment, ARMS, 1, tmp_path))
    assert runs == ["base", ARMS[1]]
    assert [new for _, _, new in found] == [False, False, True]
    runs.clear()
    list(run_curves(experiment, ARMS, 1, tmp_path))
    assert runs == []


def test_what_is_read_is_what_was_measured(
    runs: list[Any], small_config: dict[str, Any], tmp_path: Path
) -> None:
    list(run_curves(make_experiment(small_config), ARMS, 2, tmp_path))
    one, two = read_records(tmp_path)
    assert isinstance(one, Record) and (one.seed, two.seed) == (1, 2)
    assert one.points["coverage", 5] == Point(
        "coverage", 5, {"accuracy": 0.33333}, (5, 0), 9, 1.2
    )
    assert one.config["data"]["name"] == "synthetic"


def test_records_of_other_settings_are_not_mixed_in(
    runs: list[Any], small_config: dict[str, Any], tmp_path: Path
) -> None:
    list(run_curves(make_experiment(small_config), [], 1, tmp_path))
    other = make_experiment(small_config | {"local": {"batch_size": 8}})
    with pytest.raises(StorageError, match=r"FS6405 .*seed-1.json"):
        list(run_curves(other, [], 1, tmp_path))


def test_folders_of_real_sites_have_no_labels_to_find_out(
    small_config: dict[str, Any],
) -> None:
    sites = {"folders": ["a"], "classes": ["x", "y"]}
    config = small_config | {"data": {"name": "folders", "image_size": 8}}
    config = {**config, "sites": sites, "partition": {}}
    with pytest.raises(ConfigError, match=r"FS6404 .* ask a person"):
        experiments(make_experiment(config), 1)
