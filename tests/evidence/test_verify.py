"""A record is checked by whoever has it: the same job, the same bits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fedsemi.errors import StorageError
from fedsemi.evidence.benchmark import Benchmark
from fedsemi.evidence.jobs import Plan, job_of
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.runner import Runner
from fedsemi.evidence.verify import read_claim, unequal


def test_a_record_names_its_own_job(plan: Plan, runner: Runner) -> None:
    job = plan.jobs[1]
    record = runner.run_job(job)
    claim = read_claim(plan.record_path(job))
    assert claim.job.key == job.key and not claim.renamed
    assert claim.job.setting == job.setting
    assert unequal(claim, record) == []


def test_a_record_of_a_card_and_one_with_a_prelude_keep_their_names(
    tiny: Profile, tmp_path: Path
) -> None:
    upper = job_of(Benchmark("LC", "svhn", (), "").setting("upper"), 1, tiny)
    few = job_of(Benchmark("LAC", "svhn", (), "").setting("sage"), 1, tiny)
    assert upper.prelude is not None
    for job in (upper, few):
        content = {
            "dataset": job.setting.dataset,
            "arm": job.setting.arm,
            "card": job.setting.card,
            "seed": job.seed,
            "config": job.experiment.model_dump(mode="json"),
            "prelude": job.prelude and job.prelude.model_dump(mode="json"),
            "rounds": {},
            "model_sha256": "",
        }
        path = tmp_path / f"{job.key}.json"
        path.write_text(json.dumps(content))
        assert not read_claim(path).renamed


def test_what_was_changed_by_hand_is_seen(plan: Plan, runner: Runner) -> None:
    job = plan.jobs[0]
    record = runner.run_job(job)
    path = plan.record_path(job)
    content = json.loads(path.read_text())
    content["rounds"]["accuracy"][-1] = 0.99
    content["config"]["local"]["lr_labeled"] = 0.5
    path.write_text(json.dumps(content))
    claim = read_claim(path)
    assert claim.renamed and unequal(claim, record) == ["rounds"]


def test_other_files_are_no_records(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(StorageError, match="is no record of a run") as raised:
        read_claim(tmp_path / "a.json")
    assert raised.value.code == "FS1112"
