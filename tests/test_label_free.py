"""Clients cannot see the truth about unlabeled samples: held by construction."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

import fedsemi
from fedsemi.config.experiment import make_experiment
from fedsemi.simulation.build import Simulation, build
from fedsemi.simulation.conduct import conduct
from fedsemi.weights import digest

PACKAGE = Path(fedsemi.__file__).parent
ENTRY_POINTS = ["fedsemi.methods", "fedsemi.engines", "fedsemi.client.local"]
"""What a client runs; everything these import is client code as well."""


def file_of(module: str) -> Path | None:
    path = PACKAGE.joinpath(*module.split(".")[1:])
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def imports_of(module: str) -> set[str]:
    """List the modules of this package that a module imports, wherever it does so."""
    file = file_of(module)
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))) if file else ():
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {node.module, *(name for name in names if file_of(name))}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    parents = {name.rsplit(".", 1)[0] for name in found if name.count(".") > 1}
    return {name for name in found | parents if name.startswith("fedsemi.")}


def client_modules() -> set[str]:
    seen: set[str] = set()
    waiting = list(ENTRY_POINTS)
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += imports_of(module)
    return seen


def test_client_code_never_imports_the_simulation() -> None:
    modules = client_modules()
    assert "fedsemi.objectives.pseudo_label" in modules  # the walk does find things
    assert not [name for name in modules if name.startswith("fedsemi.simulation")]


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

    known, unknown = (list(conduct(each)) for each in (with_truth, blind))

    assert blind.federation.oracle is None
    assert digest(known[-1].weights) == digest(unknown[-1].weights)
    assert known[-1].record.clients[1].pseudo_label_accuracy is not None
    assert unknown[-1].record.clients[1].pseudo_label_accuracy is None
