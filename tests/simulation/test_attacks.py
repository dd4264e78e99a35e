"""Attacks in a simulation: they are real, and the gate meets them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from fedsemi.config.experiment import Experiment, make_experiment
from fedsemi.errors import ConfigError
from fedsemi.simulation.adaptive import marked
from fedsemi.simulation.attack_suite import (
    AGGREGATIONS,
    Outcome,
    attackers_of,
    run_suite,
    table_rows,
)
from fedsemi.simulation.attacked import ATTACKS, NEED_TRUTH
from fedsemi.simulation.build import Simulation, build

CONTENT: dict[str, Any] = {
    "data": {"name": "synthetic", "train_limit": 80, "test_limit": 20},
    "model": {"name": "resnet8", "width": 4},
    "partition": {"num_clients": 5, "min_size": 5},
    "local": {"batch_size": 16},
    "evaluation": {"every": 9},
    "stages": [
        {"method": "supervised", "rounds": 1},
        {"method": "semianagg", "rounds": 2},
    ],
}


TRIED = (
    "nan",
    "scaled",
    "stale",
    "duplicates",
    "noise-images",
    "just-under",
    "trigger",
)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    out: Path = tmp_path_factory.mktemp("attacks")
    return list(run_suite(make_experiment(CONTENT), TRIED, ["uniform-semi"], out))


@pytest.mark.slow
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_every_attack_runs_with_and_without_guard(
    aggregation: str, tmp_path: Path
) -> None:
    found = run_suite(make_experiment(CONTENT), ATTACKS, [aggregation], tmp_path)
    possible = [attack for attack in ATTACKS if attack != "pair"]  # two of four
    assert {(o.attack, o.guard) for o in found} == {
        (attack, guard) for attack in ("none", *possible) for guard in (True, False)
    }


def test_the_gate_drops_what_is_not_a_reply(outcomes: list[Outcome]) -> None:
    for guard in (True, False):
        dropped = {o.attack: o.dropped for o in outcomes if o.guard is guard}
        assert dropped["nan"] == 2
        assert dropped["stale"] == 1  # the first reply is fresh
        assert dropped["duplicates"] == 38  # 19 of 20, twice
        assert dropped["none"] == dropped["noise-images"] == dropped["scaled"] == 0


def test_twenty_replies_have_the_share_of_one(outcomes: list[Outcome]) -> None:
    shares = [o.share for o in outcomes if o.attack == "duplicates"]
    assert shares == pytest.approx([0.125, 0.125])


def test_the_guard_cuts_a_step_that_the_gate_lets_pass(outcomes: list[Outcome]) -> None:
    cut = {o.guard: o.cut for o in outcomes if o.attack == "scaled"}
    assert cut == {True: 2, False: 0}


def test_a_step_just_under_the_limits_is_not_cut(outcomes: list[Outcome]) -> None:
    (found,) = [o for o in outcomes if o.attack == "just-under" and o.guard]
    assert found.cut == found.dropped == 0 and found.clients == 5


def test_the_trigger_has_a_success_rate_and_a_baseline(outcomes: list[Outcome]) -> None:
    rates = {o.attack: o.success for o in outcomes}
    known = {attack for attack, rate in rates.items() if rate is not None}
    assert known == {"none", "trigger"}


def test_a_mark_is_a_white_square_in_the_corner() -> None:
    image = marked(torch.zeros(1, 1, 8, 8, dtype=torch.uint8))
    assert image.sum() == 4 * 255 and bool((image[0, 0, 6:, 6:] == 255).all())


def test_two_attack_together_only_where_they_are_a_minority() -> None:
    built = build(make_experiment(CONTENT))  # four unlabeled clients
    few = attackers_of(built, "pair"), attackers_of(built, "drift")
    assert few[0] == [] and len(few[1]) == 1
    content = {**CONTENT, "partition": {"num_clients": 6, "min_size": 5}}
    assert len(attackers_of(build(make_experiment(content)), "pair")) == 2


def test_loss_is_measured_against_the_run_without_attack_and_guard() -> None:
    def outcome(attack: str, guard: bool, accuracy: float) -> Outcome:
        return Outcome(1, "fedavg", attack, guard, accuracy, 0.1, 0)

    rows = table_rows(
        [
            outcome("none", True, 0.85),
            outcome("none", False, 0.90),
            outcome("flip", True, 0.80),
            outcome("flip", False, 0.40),
        ]
    )
    assert [round(row["lost_off"], 6) for row in rows] == [0, 0.5]
    assert [round(row["lost_on"], 6) for row in rows] == [0.05, 0.1]


def test_every_aggregation_of_the_suite_is_a_valid_stage() -> None:
    for stage in AGGREGATIONS.values():
        make_experiment({**CONTENT, "stages": [{**stage, "rounds": 1}]})


@pytest.fixture
def _real_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody know the truth, as with the folders of real sites."""

    def untold(experiment: Experiment, data_dir: Path | None) -> Simulation:
        built = build(experiment, data_dir)
        return replace(built, federation=replace(built.federation, oracle=None))

    monkeypatch.setattr("fedsemi.simulation.attack_suite.build", untold)


@pytest.mark.usefixtures("_real_sites")
def test_where_no_truth_is_known_the_attacks_that_need_none_run(tmp_path: Path) -> None:
    content = {
        **CONTENT,
        "data": {"name": "synthetic", "train_limit": 30, "test_limit": 20},
    }
    stages = [{**stage, "rounds": 1} for stage in CONTENT["stages"]]
    clients = {"num_clients": 2, "min_size": 5}
    short = make_experiment({**content, "stages": stages, "partition": clients})
    possible = [attack for attack in ATTACKS if attack not in NEED_TRUTH]
    assert "trigger" in possible
    found = run_suite(short, possible, ["uniform-semi"], tmp_path)
    assert {outcome.attack for outcome in found} == {"none", *possible}


@pytest.mark.usefixtures("_real_sites")
def test_where_no_truth_is_known_the_others_are_refused_at_once(tmp_path: Path) -> None:
    suite = run_suite(make_experiment(CONTENT), ATTACKS, ["fedavg"], tmp_path / "out")
    with pytest.raises(
        ConfigError, match=r"FS4107 flip, .*pass --attack nan .*trigger"
    ):
        next(suite)
    assert not (tmp_path / "out").exists()
