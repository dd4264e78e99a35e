"""Grids of settings: what is swept, and what is refused before anything trains."""

from __future__ import annotations

from typing import Any

import pytest

from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError
from fedsemi.evidence.sweep import at_point, overrides_of, points_of, read_grid


def test_several_grids_multiply_and_the_last_turns_fastest() -> None:
    points = points_of(read_grid(["partition.dirichlet_alpha=0.1,2", "data.flip=true"]))
    assert points == [
        (("partition.dirichlet_alpha", 0.1), ("data.flip", True)),
        (("partition.dirichlet_alpha", 2), ("data.flip", True)),
    ]
    assert len(points_of({"a": [1, 2], "b": [1, 2, 3]})) == 6
    assert points_of({}) == [()]


def test_values_may_be_numbers_words_or_lists() -> None:
    found = read_grid(["a=1,0.5", "b=softmatch, freematch", "c=[0, 1],[2]", 'd="x",y'])
    assert found["a"] == [1, 0.5] and found["b"] == ["softmatch", "freematch"]
    assert found["c"] == [[0, 1], [2]]
    assert points_of({"c": found["c"]}) == [(("c", (0, 1)),), (("c", (2,)),)]
    assert overrides_of((("b", "softmatch"),)) == ['b="softmatch"']


@pytest.mark.parametrize(
    ("grid", "part"),
    [
        (["partition.dirichlet_alpha"], "is not of the form"),
        (["=1,2"], "is not of the form"),
        (["a="], "is not of the form"),
        (["a=1,2", "a=3"], "names 'a' twice"),
        (["a=1,2,1"], "'a' has the value 1 twice"),
        (["a=1,,b"], "needs values for 'a'"),
        (["a={b=1},2"], "needs values for 'a'"),
        (["seed=1,2"], "--seeds"),
        (["stages.1.method=fedavg,rscfed"], "--methods"),
        ([f"{key}=1,2,3,4,5,6,7,8,9,10" for key in "abcd"], "10,000 combinations"),
    ],
)
def test_a_grid_that_means_nothing_is_refused(grid: list[str], part: str) -> None:
    with pytest.raises(ConfigError, match=part) as error:
        points_of(read_grid(grid))
    assert error.value.code == "FS4182"


def test_a_point_changes_its_settings_alone(small_config: dict[str, Any]) -> None:
    base = make_experiment(small_config)
    made = at_point(base, (("stages.1.learner.cutoff", 0.5), ("local.batch_size", 8)))
    assert made.stages[1].settings["learner"]["cutoff"] == 0.5
    assert made.local.batch_size == 8
    assert made.partition == base.partition and at_point(base, ()) == base


@pytest.mark.parametrize("point", [("partition.alpha", 1), ("local.batch_size", "x")])
def test_unknown_settings_and_impossible_values_are_refused(
    small_config: dict[str, Any], point: tuple[str, Any]
) -> None:
    with pytest.raises(ConfigError):
        at_point(make_experiment(small_config), (point,))
