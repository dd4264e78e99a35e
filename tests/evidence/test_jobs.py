"""Plans: what is wanted, and what is there already."""

from __future__ import annotations

from pathlib import Path

from fedsemi.evidence.catalogue import Setting, setting
from fedsemi.evidence.jobs import Plan, make_plan
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
