"""Learners by name: any goes with any averaging, and a slip of the pen is explained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fedsemi.client.learners import MeanTeaching, PseudoLabeling
from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation


def _content(method: str, learner: dict[str, Any]) -> dict[str, Any]:
    return {
        "data": {"name": "synthetic", "train_limit": 80, "test_limit": 20},
        "model": {"name": "resnet8", "width": 4},
        "partition": {"num_clients": 3, "min_size": 5},
        "local": {"batch_size": 16},
        "stages": [{"method": method, "rounds": 1, "learner": learner}],
    }


@pytest.mark.parametrize(
    "method", ["fedavg", "fedavg-semi", "uniform-semi", "semianagg"]
)
def test_mean_teacher_goes_with_every_averaging(method: str, tmp_path: Path) -> None:
    content = _content(method, {"name": "mean-teacher", "cutoff": 0.0})
    simulation = build(make_experiment(content), tmp_path)
    (step,) = run_simulation(simulation)
    unlabeled = [c for c in step.record.clients.values() if c.num_unlabeled]
    assert all(c.num_pseudo > 0 and c.contribution > 0 for c in unlabeled)
    if method == "semianagg":
        assert all(c.diversity is not None and any(c.diversity) for c in unlabeled)


def test_a_table_without_a_name_means_pseudo_labels() -> None:
    experiment = make_experiment(_content("fedavg", {"cutoff": 0.8}))
    learner = build(experiment).method(experiment.stages[0]).learner  # type: ignore[attr-defined]
    assert learner == PseudoLabeling(cutoff=0.8)


def test_a_name_chooses_the_learner() -> None:
    experiment = make_experiment(_content("fedavg", {"name": "mean-teacher"}))
    learner = build(experiment).method(experiment.stages[0]).learner  # type: ignore[attr-defined]
    assert learner == MeanTeaching("mean-teacher")


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        ({"name": "mean-techer"}, "did you mean 'mean-teacher'"),
        ({"name": "mean-teacher", "cutof": 1}, "stages.0.learner.cutof' (did you mean"),
        ({"name": "mean-teacher", "selection": "x"}, "unknown key"),
        ({"cutof": 0.9}, "'stages.0.learner.cutof' (did you mean 'cutoff'?)"),
        ({"cutoff": 3}, "'stages.0.learner.cutoff' is 3"),
        ("mean-teacher", "learner is 'mean-teacher', and must be a table"),
        (3, "learner is 3, and must be a table"),
    ],
)
def test_a_slip_in_a_learner_is_explained(learner: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make_experiment(_content("fedavg", learner))
    assert message in str(caught.value)


def test_a_local_teacher_is_counted_too() -> None:
    content = _content("fedavg", {"teacher": "local", "cutoff": 0.0})
    (step,) = run_simulation(build(make_experiment(content)))
    unlabeled = [c for c in step.record.clients.values() if c.num_unlabeled]
    assert all(c.num_pseudo > 0 for c in unlabeled)
