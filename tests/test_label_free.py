"""Clients cannot see the truth about unlabeled samples: held by construction."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

import fedsemi
from fedsemi.config.experiment import make_experiment
from fedsemi.simulation.build import Simulation, build
from fedsemi.simulation.run import run_simulation
from fedsemi.weights import digest


def test_the_rooms_of_a_client_never_import_the_truth() -> None:
    """Held for the whole package by the contracts that `make check` looks at."""
    root = Path(fedsemi.__file__).parents[2]
    contracts = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    rules = contracts["tool"]["importlinter"]["contracts"]
    (rule,) = [each for each in rules if "the truth" in each["name"]]
    assert {"fedsemi.client", "fedsemi.deployment.site", "fedsemi.methods"} <= set(
        rule["source_modules"]
    )
    assert "fedsemi.simulation" in rule["forbidden_modules"]


def without_oracle(simulation: Simulation) -> Simulation:
    """Forget the truth about unlabeled samples, in the data set as well."""
    labels = simulation.dataset.train.labels.clone()
    for index in simulation.partition.clients:
        labels[torch.from_numpy(index.unlabeled)] = 0
    train = replace(simulation.dataset.train, labels=labels)
    return replace(
        simulation,
        dataset=replace(simulation.dataset, train=train),
        federation=replace(simulation.federation, oracle=None),
    )


def test_training_is_the_same_when_the_truth_is_physically_absent(
    small_config: dict[str, Any],
) -> None:
    with_truth = build(make_experiment(small_config))
    blind = without_oracle(build(make_experiment(small_config)))

    known, unknown = (list(run_simulation(each)) for each in (with_truth, blind))

    assert blind.federation.oracle is None
    assert digest(known[-1].weights) == digest(unknown[-1].weights)
    assert known[-1].record.clients[1].pseudo_label_accuracy is not None
    assert unknown[-1].record.clients[1].pseudo_label_accuracy is None
