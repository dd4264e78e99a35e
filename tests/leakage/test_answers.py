"""What sites send, laid out in rows."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fedsemi.config.experiment import Experiment, make_experiment
from fedsemi.data.dataset import Dataset
from fedsemi.errors import ConfigError
from fedsemi.leakage.answers import Answers, Layout, alike, ask, check_fits
from fedsemi.leakage.scene import blueprint_of, deal, last_tasks, share_out
from fedsemi.messages import DIVERSITY, Update

from .conftest import content

WEIGHTS = {
    "encoder.conv": torch.tensor([[1.0, 2.0]]),
    "encoder.bn.running_var": torch.tensor([1.0, 4.0]),
    "encoder.bn.num_batches_tracked": torch.tensor(7),
    "head.bias": torch.tensor([5.0]),
}


def test_a_model_becomes_a_row_and_a_step_a_model_again() -> None:
    layout = Layout.of(WEIGHTS)
    assert layout.row(WEIGHTS).tolist() == [1, 2, 1, 4, 5]
    assert layout.places("encoder.", "running_").tolist() == [2, 3]
    assert layout.places("head.").tolist() == [4]
    step = np.array([1, 1, -2, 1, -5], dtype=np.float32)
    moved = layout.moved(WEIGHTS, step)
    assert moved["encoder.conv"].tolist() == [[2, 3]] and moved["head.bias"] == 0
    # Noise may push a variance below zero, where no network can be evaluated.
    assert 0 < moved["encoder.bn.running_var"][0] < 0.01
    assert moved["encoder.bn.num_batches_tracked"] == 7


def test_each_site_has_a_row_of_everything_that_it_sent(
    experiment: Experiment, digits: Dataset
) -> None:
    parts = share_out(digits, 1)
    task = last_tasks(experiment, parts.federation)["unlabeled"]
    sites = deal(experiment, parts.judged, "unlabeled", 4, seed=1)
    method = blueprint_of(experiment, parts.judged).method(experiment.stages[-1])
    answers = ask(method, task, sites, 10, seed=1)
    assert set(answers.things) == {
        "model",
        "counts",
        "metrics",
        f"statistics.{DIVERSITY}",
    }
    assert all(len(rows) == 4 for rows in answers.things.values())
    assert answers.things["counts"][:, 1].tolist() == [len(s.rows) for s in sites]
    assert answers.shares.sum(1) == pytest.approx(1)
    assert answers.counts[2, 3] == int((sites[2].truth == 3).sum())
    assert np.abs(answers.things["model"]).sum(1).min() > 0
    assert all(update.weights == {} for update in answers.updates)


def test_methods_that_differ_in_shares_alone_send_the_same_models(
    digits: Dataset,
) -> None:
    """So what a model tells is the same for all of them, statistics or not."""
    parts = share_out(digits, 1)
    sent = []
    for name in ("semianagg", "uniform-semi", "fedavg-semi"):
        experiment = make_experiment(content(name))
        task = last_tasks(experiment, parts.federation)["unlabeled"]
        sites = deal(experiment, parts.judged, "unlabeled", 2, seed=1)
        method = blueprint_of(experiment, parts.judged).method(experiment.stages[-1])
        sent.append(ask(method, task, sites, 10, seed=1).things["model"])
    assert np.array_equal(sent[0], sent[1]) and np.array_equal(sent[0], sent[2])


def test_a_metric_that_few_sites_send_has_one_column_everywhere() -> None:
    def answers(*sent: dict[str, float]) -> Answers:
        updates = [Update(k, 0, {}, 0, 9, metrics=each) for k, each in enumerate(sent)]
        return Answers([], {"metrics": np.zeros((1, 1))}, updates, np.zeros((1, 1)))

    first, second = alike([answers({"loss": 1.0}), answers({"admitted": 0.5})])
    assert first.things["metrics"].tolist() == [[0.0, 1.0]]
    assert second.things["metrics"].tolist() == [[0.5, 0.0]]


def test_models_that_would_not_fit_into_memory_are_refused_beforehand() -> None:
    large = {"head.weight": torch.empty(11_000_000, device="meta")}
    with pytest.raises(
        ConfigError, match=r"300 models of 11,000,000 numbers"
    ) as caught:
        check_fits(large, 300)
    assert caught.value.code == "FS6302"
    check_fits(large, 10)
