"""Runs: a shared warm-up, one record each, and nothing lost when stopped."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from fedsemi.config.experiment import EvaluationSettings
from fedsemi.errors import Interrupted, RunInUse
from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.jobs import Job, Plan, job_of
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.records import Record, read_records, write_record
from fedsemi.evidence.runner import Runner
from fedsemi.runs.folder import RunFolder
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation
from fedsemi.weights import digest


def test_interrupted_work_continues_where_it_stopped(
    plan: Plan, runner: Runner
) -> None:
    class Stopped(Exception):
        pass

    def stop(job: Job, record: Record) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        runner.run(stop)
    assert len(plan.done) == 1
    before = {job.key: plan.record_path(job).read_bytes() for job in plan.done}
    ran: list[str] = []
    runner.run(lambda job, record: ran.append(job.key))
    assert ran == [plan.jobs[1].key] and not plan.todo
    for key, content in before.items():
        assert (plan.folder / "runs" / f"{key}.json").read_bytes() == content


def test_a_checkpoint_that_was_damaged_is_told(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, said = plan.jobs[0], StringIO()
    runner = Runner(plan, "smoke", 1, Console(file=said, width=200))
    resume = RunFolder.resume

    def damaged(*given: Any) -> RunFolder:
        folder = resume(*given)
        folder.notices.insert(0, "FS1102 'ckpt-2' is damaged — using ckpt-1 instead")
        return folder

    monkeypatch.setattr(RunFolder, "resume", damaged)
    runner.run_job(job)
    assert "FS1102 'ckpt-2' is damaged" in said.getvalue()
    assert "FS1001" not in said.getvalue()


def test_a_shared_warm_up_gives_the_bits_of_running_both_stages(
    plan: Plan, runner: Runner
) -> None:
    job = plan.jobs[1]
    record = runner.run_job(job)
    *_, straight = run_simulation(build(job.experiment))
    assert record["model_sha256"] == digest(straight.weights)
    assert len(list((plan.folder / "work").iterdir())) == 1  # the warm-up's


def test_what_a_run_delivers_is_not_what_its_last_stage_begins_with(
    plan: Plan, runner: Runner
) -> None:
    mean = EvaluationSettings(running_mean=0.5, delivers="running-mean")
    job = plan.jobs[1]
    experiment = job.experiment.model_copy(update={"evaluation": mean})
    record = runner.run_job(replace(job, experiment=experiment))
    *_, straight = run_simulation(build(experiment))
    assert record["model_sha256"] == digest(straight.running_mean)


def test_the_warm_up_of_others_is_a_record_without_training_again(
    plan: Plan, runner: Runner, tiny: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = runner.run_job(plan.jobs[1])
    one = Setting("isic18", "warm-up", plan.jobs[1].setting.partition)
    monkeypatch.setattr(Runner, "_train", None)  # would fail if it were called
    record = runner.run_job(job_of(one, 1, tiny))
    assert record["rounds"]["accuracy"] == beside["warm_up"]["accuracy"]
    assert record["warm_up"] is None and record["config"]["stages"][0]["rounds"] == 1


def test_a_warm_up_that_comes_first_is_there_for_others(
    plan: Plan, runner: Runner, tiny: Profile
) -> None:
    one = Setting("isic18", "warm-up", plan.jobs[1].setting.partition)
    job = job_of(one, 1, tiny)
    runner.run_job(job)
    assert plan.jobs[1].warm_up == job.experiment
    assert runner.has_warm_up(job.experiment)


def test_a_record_is_small_text_with_what_tables_and_plots_need(
    plan: Plan, runner: Runner
) -> None:
    runner.run_job(plan.jobs[1])
    path = plan.record_path(plan.jobs[1])
    assert path.stat().st_size < 20_000
    record = json.loads(path.read_text())
    assert record == read_records(plan.folder)[plan.jobs[1].key]
    assert record["rounds"]["accuracy"] and record["warm_up"]["accuracy"]
    assert set(record["clients"]["contribution"]) == {"1", "2"}
    assert record["config"]["stages"][0]["rounds"] == 1, "the config is the whole one"


def test_a_signal_is_told_as_something_to_continue(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Runner, job: Job) -> Record:
        raise Interrupted("stop requested")

    monkeypatch.setattr(Runner, "run_job", interrupted)
    with pytest.raises(Interrupted, match="same command goes on"):
        runner.run(lambda job, record: None)


def test_a_job_that_another_process_has_is_left_to_it_and_looked_at_again(
    plan: Plan, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def taken(self: Runner, job: Job) -> Record:
        asked.append(job.setting.arm)
        if job is plan.jobs[0]:
            raise RunInUse("somebody works there")
        write_record(plan.folder, job, {"seed": 1})
        return {}

    def others_end(seconds: float) -> None:
        write_record(plan.folder, plan.jobs[0], {"seed": 1})

    monkeypatch.setattr(Runner, "run_job", taken)
    monkeypatch.setattr("time.sleep", others_end)
    told: list[str] = []
    runner.run(lambda job, record: told.append(job.setting.arm))
    # The other is run meanwhile; the taken one is tried once more, then awaited.
    assert asked == ["fedavg-semi", "semianagg", "fedavg-semi"]
    assert told == ["semianagg"] and not plan.todo


def test_a_record_that_appears_meanwhile_is_not_made_again(
    plan: Plan, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def both_at_once(self: Runner, job: Job) -> Record:
        ran.append(job.setting.arm)
        for each in plan.jobs:
            write_record(plan.folder, each, {})
        return {}

    monkeypatch.setattr(Runner, "run_job", both_at_once)
    runner.run(lambda job, record: None)
    assert ran == ["fedavg-semi"]


def test_a_client_that_is_left_out_has_no_share_and_changes_the_result(
    plan: Plan, runner: Runner, tiny: Profile
) -> None:
    one = plan.jobs[1].setting
    less = job_of(Setting(one.dataset, one.arm, one.partition, 2), 1, tiny)
    record = runner.run_job(less)
    assert record["without"] == 2
    assert set(record["clients"]["contribution"]) == {"1"}
    assert plan.record_path(less) != plan.record_path(plan.jobs[1])


def test_an_encoder_without_labels_is_probed_with_all_and_with_few_labels(
    plan: Plan, runner: Runner, tiny: Profile
) -> None:
    one = Setting("isic18", "fedbarlow", plan.jobs[1].setting.partition)
    probe = runner.run_job(job_of(one, 1, tiny))["probe"]
    assert probe.keys() == {"all", "labeled"}
    for scores in probe.values():
        assert scores.keys() == {"accuracy", "balanced_accuracy", "auc"}
        assert 0 <= scores["accuracy"] <= 1
