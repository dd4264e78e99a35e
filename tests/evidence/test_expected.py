"""Minutes of a plan: as measured, or by the images that a run learns from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fedsemi.evidence.benchmark import Benchmark
from fedsemi.evidence.expected import expected
from fedsemi.evidence.jobs import job_of, make_plan
from fedsemi.evidence.profiles import Profile

LC = Benchmark("LC", "svhn", ("uniform", "sage"), "uniform")
LAC = Benchmark("LAC", "svhn", ("sage",), "sage")


def done(profile: Profile, arm: str, **more: Any) -> dict[str, dict[str, Any]]:
    job = job_of(LC.setting(arm), 1, profile)
    facts: dict[str, Any] = {"dataset": "svhn", "arm": arm, "seconds": 600.0}
    return {"a": facts | {"config": job.experiment.model_dump(mode="json")} | more}


def minutes(
    profile: Profile, made: Benchmark, folder: Path, records: dict[str, dict[str, Any]]
) -> dict[str, float]:
    plan = make_plan(made.settings, profile, 1, folder)
    return {job.setting.arm: s / 60 for job, s in expected(plan, records)}


def test_nothing_is_expected_before_anything_ran(
    medium: Profile, tmp_path: Path
) -> None:
    assert minutes(medium, LC, tmp_path, {}) == {}


def test_cpu_seconds_of_another_seed_are_taken_as_they_are(
    medium: Profile, tmp_path: Path
) -> None:
    records = done(medium, "uniform", cpu_seconds=120.0)
    assert minutes(medium, LC, tmp_path, records)["uniform"] == 2


def test_others_are_taken_by_the_images_that_they_learn_from(
    medium: Profile, tmp_path: Path
) -> None:
    records = done(medium, "uniform")
    assert minutes(medium, LC, tmp_path, records)["sage"] == pytest.approx(10)
    # 0.4 of 15,000 images in five epochs against 73,257 once, tests beside them.
    few = minutes(medium, LAC, tmp_path, records)["sage"]
    assert few == pytest.approx(10 * 0.4 * 15_000 * 5 / 73_257, rel=0.03)
