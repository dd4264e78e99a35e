"""The estimate of a plan adds up what a probe measured."""

import io

import pytest
from rich.console import Console

from fedsemi.evidence import estimate
from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.estimate import Clock, Pace
from fedsemi.evidence.jobs import make_plan
from fedsemi.evidence.runner import Runner


def test_a_stage_is_its_start_its_other_rounds_and_its_tests():
    pace = Pace(start=10, round=2, test=0.5)
    assert pace.seconds(rounds=60, every=3) == pytest.approx(10 + 59 * 2 + 20 * 0.5)


def test_the_last_round_is_tested_even_if_it_is_not_due():
    pace = Pace(start=0, round=0, test=1)
    assert [pace.seconds(rounds, every=3) for rounds in (1, 3, 4, 6)] == [1, 1, 2, 2]


def test_a_stage_without_rounds_takes_no_time():
    assert Pace(start=10, round=2, test=1).seconds(rounds=0, every=1) == 0


@pytest.fixture
def timed(monkeypatch):
    """Let a probe of any stage take 10 s to start, 2 s a round and 1 s a test."""
    probed = []

    def probe(self, experiment):
        probed.append(experiment)
        return Pace(start=10, round=2, test=1)

    monkeypatch.setattr(Clock, "_time", probe)
    return probed


def test_a_plan_is_its_methods_and_the_warm_up_that_they_share_once(runner, timed):
    # Two methods of two rounds: 10 + 2 + 1 each. One warm-up of a round: 10 + 1.
    assert Clock(runner, {}).seconds_left(probe=True) == 2 * 13 + 11
    methods = [experiment.stages[0].method for experiment in timed]
    assert sorted(methods) == ["fedavg-semi", "semianagg", "supervised"]
    assert {experiment.stages[0].rounds for experiment in timed} == {3}


def test_other_seeds_take_as_long_and_are_not_probed_again(
    tiny, table, runner, tmp_path, timed
):
    plan = make_plan(table.settings, tiny, 3, tmp_path)
    more = Runner(plan, "smoke", 1, runner.console)
    assert Clock(more, {}).seconds_left(probe=True) == 3 * (2 * 13 + 11)
    assert len(timed) == 3


def test_a_finished_run_of_the_same_kind_is_the_best_probe(runner, timed):
    done = [
        {"dataset": "isic18", "arm": "semianagg", "seconds": seconds}
        for seconds in (40, 60)
    ]
    other = {"dataset": "svhn", "arm": "fedavg-semi", "seconds": 1000}
    records = dict(enumerate([*done, other]))
    assert Clock(runner, records).seconds_left(probe=True) == 50 + 13 + 11


def test_what_is_not_known_is_not_guessed(runner, timed):
    assert Clock(runner, {}).seconds_left(probe=False) is None
    # The methods are known, the warm-up that they need is not.
    arms = ("fedavg-semi", "semianagg")
    known = {a: {"dataset": "isic18", "arm": a, "seconds": 5} for a in arms}
    assert Clock(runner, known).seconds_left(probe=False) is None
    assert timed == []


def test_a_warm_up_that_is_there_takes_no_time(runner, timed, monkeypatch):
    monkeypatch.setattr(Runner, "warm_up_model", lambda self, experiment: "there")
    assert Clock(runner, {}).seconds_left(probe=True) == 2 * 13
    assert {experiment.start for experiment in timed} == {"there"}


def test_a_warm_up_that_is_wanted_for_itself_is_counted_once(
    tiny, table, runner, tmp_path, timed
):
    alone = Setting("isic18", "warm-up", table.settings[0].partition)
    plan = make_plan([alone, *table.settings], tiny, 1, tmp_path)
    clock = Clock(Runner(plan, "smoke", 1, runner.console), {})
    assert clock.seconds_left(probe=True) == 2 * 13 + 11


def test_what_is_being_timed_is_said_before_it_takes_its_time(
    table, tiny, tmp_path, monkeypatch
):
    monkeypatch.setattr(estimate, "build", lambda experiment, data_dir: experiment)
    monkeypatch.setattr(estimate, "run_simulation", lambda *_: iter(range(3)))
    said = io.StringIO()
    plan = make_plan(table.settings, tiny, 1, tmp_path)
    Clock(Runner(plan, "smoke", 1, Console(file=said)), {}).seconds_left(probe=True)
    assert sorted(said.getvalue().splitlines()) == [
        f"timing 3 rounds of {method} on synthetic; --no-probe leaves that out"
        for method in ("fedavg-semi", "semianagg", "supervised")
    ]
