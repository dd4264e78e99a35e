"""How long a plan still takes, from what is finished."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fedsemi.evidence.catalogue import Setting, setting
from fedsemi.evidence.forecast import Forecast
from fedsemi.evidence.jobs import Plan, make_plan
from fedsemi.evidence.profiles import Profile

UNIFORM, OURS = setting("isic18", "uniform"), setting("isic18", "semianagg")
WARM = setting("isic18", "warm-up")


def done(one: Setting, seconds: float, seed: int = 1) -> dict[str, Any]:
    facts = {"dataset": one.dataset, "arm": one.arm, "partition": {}, "seed": seed}
    return {**facts, "seconds": seconds}


def plan_of(tiny: Profile, folder: Path, *settings: Setting, seeds: int = 1) -> Plan:
    return make_plan(settings, tiny, seeds, folder)


def test_nothing_is_known_before_the_first_run(tiny: Profile, tmp_path: Path) -> None:
    plan = plan_of(tiny, tmp_path, OURS)
    assert Forecast(plan, {}).seconds_left() is None
    assert Forecast(plan, {}).seconds_of(plan.jobs[0]) is None


def test_one_run_is_told_without_its_warm_up(tiny: Profile, tmp_path: Path) -> None:
    plan = plan_of(tiny, tmp_path, OURS, seeds=2)
    forecast = Forecast(plan, {"a": done(OURS, 40, 1), "b": done(WARM, 8, 1)})
    assert [forecast.seconds_of(job) for job in plan.todo] == [40, 40]
    assert forecast.seconds_left() == 40 + 40 + 8  # of seed 2


def test_a_row_takes_as_long_as_its_other_seeds(tiny: Profile, tmp_path: Path) -> None:
    plan = plan_of(tiny, tmp_path, OURS)
    records = {"a": done(OURS, 40, 1), "b": done(OURS, 60, 2)}
    assert Forecast(plan, records).seconds_left() == 50


def test_a_run_that_was_paused_does_not_count_for_all(
    tiny: Profile, tmp_path: Path
) -> None:
    records = {str(n): done(OURS, s, n) for n, s in enumerate((50, 60, 6000))}
    assert Forecast(plan_of(tiny, tmp_path, OURS), records).seconds_left() == 60


def test_a_row_that_never_ran_takes_as_long_as_others_of_its_data(
    tiny: Profile, tmp_path: Path
) -> None:
    records = {
        "a": done(UNIFORM, 30),
        "b": done(WARM, 5),
        "c": done(setting("svhn", "uniform"), 900),
    }
    assert Forecast(plan_of(tiny, tmp_path, OURS), records).seconds_left() == 30


def test_a_warm_up_that_is_missing_is_counted_once_a_seed(
    tiny: Profile, tmp_path: Path
) -> None:
    plan = plan_of(tiny, tmp_path, UNIFORM, OURS, seeds=2)
    records = {"a": done(UNIFORM, 30, 1), "b": done(OURS, 30, 1), "c": done(WARM, 8, 1)}
    # Seed 1 has its warm-up; seed 2 needs one. No record lies in the folder.
    assert Forecast(plan, records).seconds_left() == 4 * 30 + 8


def test_finished_runs_are_learned_from(tiny: Profile, tmp_path: Path) -> None:
    plan = plan_of(tiny, tmp_path, UNIFORM, OURS)
    forecast = Forecast(plan, {})
    forecast.note(done(UNIFORM, 20))
    assert forecast.seconds_left() == 40
    path = plan.record_path(plan.jobs[0])
    path.parent.mkdir()
    path.write_text("{}")
    assert forecast.seconds_left() == 20
