"""Valuing the clients of a real run."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from fedsemi.config.experiment import make_experiment
from fedsemi.report.run import read_run
from fedsemi.runs.folder import MODEL
from fedsemi.simulation.build import build
from fedsemi.storage import read_weights
from fedsemi.valuation.measure import NAMES, Kind, Valuer, contribution_of, value


@pytest.fixture(scope="module")
def valued(real_run):
    run = read_run(real_run)
    simulation = build(make_experiment(run.config))
    valuer = Valuer(simulation, read_weights(real_run / MODEL), 1, 4)
    return run, simulation, value(run, valuer, [Kind.marginal, Kind.shapley, Kind.warm])


def test_every_measure_names_clients_by_their_ids(valued) -> None:
    _, _, result = valued
    ids = {m["name"]: [v["client"] for v in m["values"]] for m in result["measures"]}
    assert ids["In-run marginal"] == ids["Shapley value"] == [0, 1, 2, 3]
    # Without client 0, nobody has labels: it cannot be left out of training.
    assert ids["Leave one out, warm start"] == [1, 2, 3]
    json.dumps(result)


def test_a_measure_taken_later_joins_those_of_the_same_model(valued) -> None:
    run, simulation, first = valued
    valuer = Valuer(simulation, read_weights(run.path / MODEL), 1, 2)
    later = value(replace(run, value=first), valuer, [Kind.shapley])
    names = [measure["name"] for measure in later["measures"]]
    assert names == [name for name in NAMES if name != "Leave one out, full"]
    assert len(later["correlations"]) == 10
    # Taken anew: two orders instead of four. The others are as they were.
    changed = [
        a["name"]
        for a, b in zip(later["measures"], first["measures"], strict=True)
        if a != b
    ]
    assert changed == ["Shapley value"]
    other = replace(run, value=first | {"model_sha256": "of another model"})
    alone = value(other, valuer, [Kind.shapley])
    assert [m["name"] for m in alone["measures"]][2:] == ["Shapley value"]


def test_sizes_are_those_of_the_clients(valued) -> None:
    _, simulation, result = valued
    sizes = {v["client"]: v["value"] for v in result["measures"][1]["values"]}
    for client in simulation.federation.clients:
        assert sizes[client.id] == client.num_labeled + client.num_unlabeled


def test_contribution_nine_is_that_of_client_nine(make_run) -> None:
    found = contribution_of(read_run(make_run(clients=12)))
    assert [w.client for w in found.values] == list(range(12))
    assert found.values[9].value == pytest.approx(9 / 66)


def test_values_lie_in_their_intervals(valued) -> None:
    for measure in valued[2]["measures"][2:]:
        for worth in measure["values"]:
            assert worth["low"] <= worth["value"] <= worth["high"]


@pytest.mark.slow
def test_full_retraining_without_a_client_is_a_run_without_it(real_run) -> None:
    simulation = build(make_experiment(read_run(real_run).config))
    valuer = Valuer(simulation, read_weights(real_run / MODEL), 1, 2)
    found = valuer.leave_one_out(warm=False)
    assert [worth.client for worth in found.values] == [1, 2, 3]
