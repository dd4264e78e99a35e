"""Plans: what is wanted, and what is there already."""

from __future__ import annotations

from pathlib import Path

import pytest

from fedsemi.errors import ConfigError
from fedsemi.evidence.catalogue import Setting, setting
from fedsemi.evidence.jobs import Plan, job_of, make_plan
from fedsemi.evidence.profiles import Profile, read_profile


def test_a_finished_run_is_found_by_its_hash(plan: Plan) -> None:
    first, second = plan.jobs
    path = plan.record_path(first)
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    assert plan.done == [first] and plan.todo == [second]


def test_another_setting_seed_or_profile_has_another_hash(
    tiny: Profile, tmp_path: Path
) -> None:
    ours = setting("isic18", "semianagg")
    without = Setting("isic18", "semianagg", (), 3)
    keys = [
        job.key
        for each in (tiny, read_profile("smoke"))
        for job in make_plan([ours, without], each, 2, tmp_path).jobs
    ]
    assert len(set(keys)) == 8


def test_the_same_experiment_under_two_names_is_run_once(
    tiny: Profile, tmp_path: Path
) -> None:
    # In the smoke profile both data sets are the same made images.
    both = [setting("svhn", "lower"), setting("cifar100", "lower")]
    assert len(make_plan(both, tiny, 1, tmp_path).jobs) == 1


def test_an_upper_bound_may_start_from_the_warm_up_of_the_methods(
    tiny: Profile, tmp_path: Path
) -> None:
    both = [setting("svhn", "upper"), setting("svhn", "semianagg")]
    upper, method = make_plan(both, tiny, 1, tmp_path).jobs
    assert upper.warm_up == method.warm_up and upper.prelude is not None
    assert upper.experiment.partition.labeled_clients == "all"
    assert upper.prelude.partition.labeled_clients == 1
    alone = make_plan(
        both, read_profile("smoke", ("upper_warm_up=false",)), 1, tmp_path
    )
    assert alone.jobs[0].warm_up is None and alone.jobs[0].key != upper.key


def test_a_whole_seed_comes_before_the_next(tiny: Profile, tmp_path: Path) -> None:
    both = [setting("isic18", "semianagg"), setting("isic18", "rscfed")]
    plan = make_plan([*both, both[0]], tiny, 2, tmp_path)
    assert [(job.seed, job.setting.arm) for job in plan.jobs] == [
        (1, "semianagg"),
        (1, "rscfed"),
        (2, "semianagg"),
        (2, "rscfed"),
    ]


ARMS = ("uniform", "semianagg", "rscfed", "cbafed", "fedavg-semi")
FIVE_ARMS = [setting("svhn", arm) for arm in ARMS]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 12])
def test_shards_share_a_plan_out_each_job_to_one(count: int) -> None:
    plan = make_plan(FIVE_ARMS, read_profile("smoke"), 2, Path("none"))
    parts = [plan.shard(f"{index}/{count}").jobs for index in range(1, count + 1)]
    assert sorted(job.key for part in parts for job in part) == sorted(
        job.key for job in plan.jobs
    )
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("which", ["0/4", "5/4", "4", "a/b", "1/", "-1/2", "1/0"])
def test_a_shard_that_is_none_is_refused(plan: Plan, which: str) -> None:
    with pytest.raises(ConfigError, match="from 1/4 to 4/4"):
        plan.shard(which)


def test_what_begins_at_a_warm_up_keeps_its_stage_with_no_rounds(plan: Plan) -> None:
    # The number of a stage is part of its seed, so it must stay the second one.
    job = plan.jobs[1]
    begun = job.begun(Path("/warm/model.safetensors"))
    assert [stage.rounds for stage in begun.stages] == [0, 2]
    assert begun.start == "/warm/model.safetensors"
    assert begun.stages[1] == job.experiment.stages[1]
    assert begun.model_copy(update={"stages": [], "start": None}) == (
        job.experiment.model_copy(update={"stages": []})
    )


def test_arms_of_one_seed_share_their_warm_up_and_seeds_do_not(
    tiny: Profile, tmp_path: Path
) -> None:
    two = [setting("isic18", arm) for arm in ("semianagg", "rscfed")]
    a, b, c, _ = make_plan(two, tiny, 2, tmp_path).jobs
    assert a.warm_up == b.warm_up is not None
    assert a.warm_up != c.warm_up


def test_a_run_of_one_stage_has_no_warm_up(tiny: Profile) -> None:
    job = job_of(setting("isic18", "lower"), 1, tiny)
    assert job.warm_up is None and not job.is_warm_up
    assert job_of(setting("isic18", "warm-up"), 1, tiny).is_warm_up


def test_a_key_is_short_and_stays_the_same(tiny: Profile) -> None:
    one = setting("isic18", "semianagg")
    keys = {job_of(one, 1, tiny).key for _ in range(2)}
    (key,) = keys
    assert len(key) == 16 and int(key, 16) >= 0
    assert job_of(one, 1, tiny).experiment.sha256.startswith(key)


def test_only_encoders_without_labels_are_probed(tiny: Profile) -> None:
    assert job_of(setting("isic18", "fedbarlow"), 1, tiny).probes
    assert not job_of(setting("isic18", "semianagg"), 1, tiny).probes
