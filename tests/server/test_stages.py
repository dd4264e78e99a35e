from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from fedsemi.config.experiment import make_experiment
from fedsemi.errors import DataError, StorageError
from fedsemi.runs.records import Step
from fedsemi.simulation.build import Simulation, build
from fedsemi.simulation.run import run_simulation
from fedsemi.storage import write_weights
from fedsemi.weights import digest


@pytest.fixture
def steps(simulation: Simulation) -> list[Step]:
    return list(run_simulation(simulation))


def test_stages_follow_each_other_and_rounds_count_from_one(steps: list[Step]) -> None:
    seen = [(s.record.stage, s.record.method, s.record.round) for s in steps]
    assert seen == [
        (0, "supervised", 1),
        (0, "supervised", 2),
        (1, "semianagg", 1),
        (1, "semianagg", 2),
    ]


def test_contributions_sum_to_one_in_every_round(steps: list[Step]) -> None:
    for step in steps:
        shares = [c.contribution for c in step.record.clients.values()]
        assert math.isclose(sum(shares), 1.0, abs_tol=1e-9)


def test_a_line_holds_what_readers_look_for(steps: list[Step]) -> None:
    line = steps[-1].record.as_json()
    wanted = {"stage", "round", "seconds", "accuracy", "balanced_accuracy", "auc"}
    wanted |= {"precision", "recall", "per_class_recall", "clients"}
    assert wanted <= line.keys()
    client = line["clients"]["1"]
    assert len(client["diversity"]) == 4
    assert 0 <= client["pseudo_label_accuracy"] <= 1
    assert client["num_pseudo"] <= client["num_unlabeled"]


def test_the_same_experiment_ends_in_the_same_bits(simulation: Simulation) -> None:
    first, second = (list(run_simulation(simulation))[-1] for _ in range(2))
    assert digest(first.weights) == digest(second.weights)


def test_another_seed_gives_another_model(small_config: dict[str, Any]) -> None:
    digests = set()
    for seed in (1, 2):
        simulation = build(make_experiment(small_config | {"seed": seed}))
        digests.add(digest(list(run_simulation(simulation))[-1].weights))
    assert len(digests) == 2


def test_a_saved_warm_up_starts_other_methods_like_a_stage_would(
    small_config: dict[str, Any], tmp_path: Path
) -> None:
    warm = build(make_experiment(small_config | {"stages": small_config["stages"][:1]}))
    model = tmp_path / "warm.safetensors"
    write_weights(model, list(run_simulation(warm))[-1].weights)

    begun = small_config | {
        "start": str(model),
        "stages": [{"method": "fedavg-semi", "rounds": 0}, small_config["stages"][1]],
    }
    from_file = list(run_simulation(build(make_experiment(begun))))[-1]

    straight = list(run_simulation(build(make_experiment(small_config))))[-1]
    assert digest(from_file.weights) == digest(straight.weights)


def test_a_start_model_that_does_not_fit_is_refused(
    small_config: dict[str, Any], tmp_path: Path, simulation: Simulation
) -> None:
    model = tmp_path / "other.safetensors"
    write_weights(model, simulation.initial_weights())
    wider = small_config | {
        "start": str(model),
        "model": {"name": "resnet8", "width": 8},
    }
    with pytest.raises(StorageError, match="does not fit at 'encoder"):
        list(run_simulation(build(make_experiment(wider))))


def test_tests_are_made_every_few_rounds_and_at_the_end(
    small_config: dict[str, Any],
) -> None:
    config = small_config | {"evaluation": {"every": 2}}
    config["stages"] = [{"method": "supervised", "rounds": 3}]
    steps = run_simulation(build(make_experiment(config)))
    assert [step.record.test is not None for step in steps] == [False, True, True]


def test_another_partition_than_the_pinned_one_is_refused(
    small_config: dict[str, Any],
) -> None:
    small_config["partition"]["sha256"] = "0" * 64
    with pytest.raises(DataError, match="FS3012"):
        build(make_experiment(small_config))


def test_all_clients_labeled_is_the_upper_bound_on_the_same_shares_of_data(
    small_config: dict[str, Any], simulation: Simulation
) -> None:
    small_config["partition"]["labeled_clients"] = "all"
    upper = build(make_experiment(small_config))
    for ours, theirs in zip(
        simulation.partition.clients, upper.partition.clients, strict=True
    ):
        assert sorted(ours.rows) == sorted(theirs.rows)
    assert upper.partition.labeled_share == 1


@pytest.mark.parametrize("method", ["fedavg", "fedavg-semi", "semianagg"])
def test_ten_percent_labels_on_every_client_work(
    small_config: dict[str, Any], method: str
) -> None:
    small_config["partition"]["labeled_fraction"] = 0.2
    small_config["stages"][1]["method"] = method
    last = list(run_simulation(build(make_experiment(small_config))))[-1]
    assert all(c.num_labeled and c.num_unlabeled for c in last.record.clients.values())


def test_who_only_measures_has_no_record_and_its_bytes_are_counted() -> None:
    content: dict[str, Any] = {
        "data": {"name": "synthetic", "train_limit": 80, "test_limit": 8},
        "setting": {"card": "LS", "labels_per_class": 2},
        "partition": {"num_clients": 4, "scheme": "iid"},
        "model": {"name": "resnet8", "width": 2},
        "stages": [{"method": "semifl", "rounds": 1, "participation": 0.5}],
    }
    static = {**content["stages"][0], "batch_norm": "static"}
    plain, measured = (
        next(iter(run_simulation(build(make_experiment({**content, "stages": [s]})))))
        for s in (content["stages"][0], static)
    )
    # The server and two of four clients learn.
    assert plain.record.clients.keys() == measured.record.clients.keys()
    assert len(measured.record.clients) == 3
    assert "measured_bytes" not in plain.record.as_json()
    # Two others were asked for 336 bytes, at the end and before the first clients.
    assert measured.record.as_json()["measured_bytes"] == 2 * 2 * 336
    for id, client in plain.record.clients.items():
        assert measured.record.clients[id].bytes_sent == client.bytes_sent + 2 * 336
