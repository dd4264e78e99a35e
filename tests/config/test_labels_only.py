"""What the labels alone are trained like, beside an experiment."""

from __future__ import annotations

from typing import Any

import pytest

from fedsemi.config.experiment import make_experiment
from fedsemi.config.labels_only import (
    begins_with_labels_only,
    is_labels_only_of,
    labels_only,
)


def test_labels_alone_have_as_many_rounds_and_the_seed_of_all_stages(
    small_config: dict[str, Any],
) -> None:
    small_config["stages"][-1]["local"] = {"epochs": 3}
    experiment = make_experiment(small_config)
    alone = labels_only(experiment)
    (stage,) = alone.stages
    assert (stage.method, stage.rounds, stage.local) == ("supervised", 4, {"epochs": 3})
    assert alone.seed == experiment.seed
    assert alone.partition == experiment.partition


CLEAN = [
    {"method": "supervised", "rounds": 2, "views": "clean"},
    {"method": "fedavg-semi", "rounds": 1},
]


def test_labels_are_learned_alone_as_in_the_warm_up(
    small_config: dict[str, Any],
) -> None:
    experiment = make_experiment(small_config | {"stages": CLEAN})
    (stage,) = labels_only(experiment).stages
    assert (stage.rounds, stage.settings) == (3, {"views": "clean"})
    assert begins_with_labels_only(experiment)


@pytest.mark.parametrize(
    ("stages", "begins"),
    [
        ([{"method": "supervised", "rounds": 2}, {"method": "fedavg", "rounds": 1}], 1),
        ([{"method": "supervised", "rounds": 2}], 0),
        ([{"method": "fedavg", "rounds": 1}], 0),
        (
            [
                {"method": "supervised", "rounds": 2, "local": {"epochs": 3}},
                {"method": "fedavg", "rounds": 1},
            ],
            0,
        ),
        (
            [
                {"method": "cbafed-warmup", "rounds": 2},
                {"method": "cbafed", "rounds": 1},
            ],
            0,
        ),
    ],
)
def test_a_warm_up_is_shared_if_it_is_the_same_training(
    small_config: dict[str, Any], stages: list[dict[str, Any]], begins: int
) -> None:
    experiment = make_experiment(small_config | {"stages": stages})
    assert begins_with_labels_only(experiment) == bool(begins)


def test_settings_of_labels_alone_are_recognized_in_the_folders_of_runs(
    small_config: dict[str, Any],
) -> None:
    experiment = make_experiment(small_config)
    config = experiment.model_dump(mode="json")
    alone = labels_only(experiment).model_dump(mode="json")
    assert is_labels_only_of(alone, config)
    assert not is_labels_only_of(config, config)
    assert not is_labels_only_of(alone | {"seed": 9}, config)
    longer = [stage | {"rounds": 9} for stage in alone["stages"]]
    assert not is_labels_only_of(alone | {"stages": longer}, config)


def test_a_run_of_a_version_that_knew_fewer_settings_is_recognized_too(
    small_config: dict[str, Any],
) -> None:
    experiment = make_experiment(small_config)
    config = experiment.model_dump(mode="json")
    alone = labels_only(experiment).model_dump(mode="json")
    del config["precision"], config["local"]["clip"]
    assert is_labels_only_of(alone, config)
    assert not is_labels_only_of(alone, config | {"unheard_of": 1})


def test_labels_learned_with_other_views_than_in_the_warm_up_are_of_another_run(
    small_config: dict[str, Any],
) -> None:
    experiment = make_experiment(small_config | {"stages": CLEAN})
    config = experiment.model_dump(mode="json")
    alone = labels_only(experiment).model_dump(mode="json")
    assert is_labels_only_of(alone, config)
    strong = [{k: v for k, v in alone["stages"][0].items() if k != "views"}]
    assert not is_labels_only_of(alone | {"stages": strong}, config)


def test_without_a_warm_up_labels_are_learned_by_default_settings(
    small_config: dict[str, Any],
) -> None:
    stages = [{"method": "fedavg-semi", "rounds": 1}]
    experiment = make_experiment(small_config | {"stages": stages})
    config = experiment.model_dump(mode="json")
    alone = labels_only(experiment).model_dump(mode="json")
    assert is_labels_only_of(alone, config)
    written = [alone["stages"][0] | {"views": "strong"}]
    assert is_labels_only_of(alone | {"stages": written}, config)
    clean = [alone["stages"][0] | {"views": "clean"}]
    assert not is_labels_only_of(alone | {"stages": clean}, config)
