"""Valuing the clients of a real run."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError, RoundFailed
from fedsemi.methods.fedavg import FedAvgSemi
from fedsemi.report.run import read_run
from fedsemi.runs.folder import MODEL
from fedsemi.simulation.build import Simulation, build
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


def simulation_of(method: str, clients: int = 4, **sections: Any) -> Simulation:
    content = {
        "data": {"name": "synthetic", "train_limit": 120, "test_limit": 40},
        "partition": {"num_clients": clients, "min_size": 2},
        "model": {"name": "resnet8", "width": 2},
        "local": {"batch_size": 16},
        "stages": [{"method": method, "rounds": 1}],
    }
    return build(make_experiment(content | sections))


def valuer_of(simulation: Simulation, workers: int = 1) -> Valuer:
    return Valuer(simulation, simulation.initial_weights(), 1, 2, workers)


def worths(valuer: Valuer) -> dict[int, float]:
    (found,) = valuer.marginal_and_shapley([Kind.marginal])
    return {worth.client: worth.value for worth in found.values}


def test_a_round_is_valued_whole_where_numbers_are_asked_for_first() -> None:
    valuer = valuer_of(simulation_of("cbafed"))
    found = worths(valuer)
    # Who alone has labels answers the first phase alone: without it no round is made.
    assert list(found) == [0, 1, 2, 3] and found[0] > 0
    assert [worth.client for worth in valuer.leave_one_out(True).values] == [1, 2, 3]


@pytest.mark.parametrize(
    ("method", "settings"), [("isofed", {}), ("semifl", {"cutoff": 0.2})]
)
def test_where_the_model_moves_within_a_round_clients_are_left_out_of_training_only(
    method: str, settings: dict[str, Any]
) -> None:
    stages = [{"method": method, "rounds": 1, **settings}]
    valuer = valuer_of(simulation_of(method, stages=stages))
    with pytest.raises(ConfigError, match=rf"FS4503 {method} moves .* warm or full"):
        worths(valuer)
    # One round is both phases: else the unlabeled would never have been asked.
    warm = valuer.leave_one_out(True).values
    assert [worth.client for worth in warm] == [1, 2, 3]
    assert any(worth.value for worth in warm)


def test_clients_that_were_not_drawn_in_the_last_round_have_no_shapley_value() -> None:
    stages = [{"method": "fedavg-semi", "rounds": 1, "participation": 0.5}]
    simulation = simulation_of("", stages=stages)
    valuer = Valuer(simulation, simulation.initial_weights(), 3, 2)
    marginal, shapley = valuer.marginal_and_shapley([Kind.marginal, Kind.shapley])
    assert len(shapley.values) == 2 < len(marginal.values)


def test_answers_under_masks_cannot_be_left_out_and_clients_can() -> None:
    simulation = simulation_of(
        "fedavg-semi",
        partition={"num_clients": 7, "labeled_clients": 3, "min_size": 2},
        privacy={"masked": True},
    )
    valuer = valuer_of(simulation)
    with pytest.raises(ConfigError, match=r"FS4503 .*--measure warm or full"):
        valuer.marginal_and_shapley([Kind.marginal])
    assert len(valuer.leave_one_out(warm=True).values) == 7


def test_the_answers_of_a_skipped_round_have_no_worth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: Any) -> None:
        raise RoundFailed("no mean")

    monkeypatch.setattr(FedAvgSemi, "aggregate", fail)
    with pytest.raises(ConfigError, match=r"FS4504 round 1 .* was skipped"):
        worths(valuer_of(simulation_of("fedavg-semi")))


@pytest.mark.slow
def test_full_retraining_without_a_client_is_a_run_without_it(real_run) -> None:
    simulation = build(make_experiment(read_run(real_run).config))
    valuer = Valuer(simulation, read_weights(real_run / MODEL), 1, 2)
    found = valuer.leave_one_out(warm=False)
    assert [worth.client for worth in found.values] == [1, 2, 3]
