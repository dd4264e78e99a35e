"""Profiles: what all data sets share, what each changes, what a setting adds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fedsemi.errors import ConfigError
from fedsemi.evidence.arms import ARMS
from fedsemi.evidence.catalogue import Setting, setting
from fedsemi.evidence.profiles import (
    NAMES,
    Profile,
    _merged,
    learner,
    read_profile,
    stages_of,
)
from fedsemi.evidence.questions import QUESTIONS


@pytest.fixture
def table() -> dict[str, Any]:
    """Numbers that cannot be mistaken for each other."""
    rounds = {"warm_up": 10, "rounds": 200, "upper": 3000}
    return {**rounds, "self_supervised": 7, "head": 9, "cutoff": 0.75}


def test_a_data_set_changes_single_settings_of_what_all_share() -> None:
    shared = {"rounds": 5, "local": {"lr": 1, "clip": {"norm": 2}}}
    own = {"local": {"clip": {"norm": 3}}, "cutoff": 0.5}
    merged = _merged(shared, own)
    assert merged == {
        "rounds": 5,
        "local": {"lr": 1, "clip": {"norm": 3}},
        "cutoff": 0.5,
    }
    merged["local"]["clip"]["norm"] = 9
    assert shared["local"] == {"lr": 1, "clip": {"norm": 2}}, "a copy, at every depth"


def test_a_stage_has_the_rounds_of_its_kind(table: dict[str, Any]) -> None:
    def rounds(arm: str) -> list[int]:
        return [each["rounds"] for each in stages_of(ARMS[arm], "mnist", table)]

    assert rounds("semianagg") == [10, 200]
    assert rounds("lower") == [210]  # as long as the methods with their warm-up
    assert rounds("upper") == [3000]
    assert rounds("barlow-rscfed") == [7, 9, 200]


def test_constants_of_a_profile_come_after_those_of_the_papers(
    table: dict[str, Any],
) -> None:
    (_, paper) = stages_of(ARMS["cbafed"], "isic18", table)
    assert (paper["cap"], paper["labeled_multiplier"]) == (0.9, 10.0)
    own = table | {"constants": {"cbafed": {"cap": 0.5}}}
    (_, changed) = stages_of(ARMS["cbafed"], "isic18", own)
    assert (changed["cap"], changed["labeled_multiplier"]) == (0.5, 10.0)


def test_a_profile_may_have_another_learner_in_place_of_the_papers(
    table: dict[str, Any],
) -> None:
    def chosen(arm: str, **more: Any) -> dict[str, Any]:
        (_, last) = stages_of(ARMS[arm], "mnist", table | more)
        found: dict[str, Any] = last["learner"]
        return found

    assert chosen("semianagg") == learner("flexmatch", 0.75)
    assert chosen("semianagg", selection="fixmatch") == learner("fixmatch", 0.75)
    # An arm that is about SoftMatch keeps it.
    soft = chosen("semianagg-softmatch", selection="fixmatch")
    assert soft == {"selection": "softmatch", "cutoff": 0.75}


def test_only_flexmatch_has_a_memory_to_forget() -> None:
    assert learner("flexmatch", 0.9)["flex_state"] == "per_round"
    assert "flex_state" not in learner("fixmatch", 0.9)


def test_a_profile_may_say_how_pseudo_labels_are_learned() -> None:
    assert "loss" not in learner("fixmatch", 0.9)
    isic = read_profile("medium").experiment(setting("isic18", "uniform"), 1)
    assert isic.stages[-1].learner["loss"] == "balanced-softmax"
    assert isic.model.encoder is not None and isic.model.encoder.trained_blocks == 0


def test_a_setting_changes_the_partition_even_inside_a_section(tiny: Profile) -> None:
    part = setting("isic18", "semianagg", num_clients=4, **{"rare.holders": 2})
    content = tiny.content(part, 5)
    assert content["partition"]["num_clients"] == 4
    assert content["partition"]["rare"] == {"holders": 2}
    assert content["seed"] == 5
    assert "rare" not in tiny.tables["isic18"]["partition"], "the profile is unchanged"


def test_the_upper_bound_takes_all_labels_whatever_the_setting_says(
    tiny: Profile,
) -> None:
    made = tiny.experiment(setting("isic18", "upper", labeled_fraction=0.1), 1)
    assert made.partition.labeled_clients == "all"
    assert made.partition.labeled_fraction is None


def test_only_the_upper_bound_has_a_prelude_and_it_is_the_methods_warm_up(
    tiny: Profile,
) -> None:
    ours, upper = setting("isic18", "semianagg"), setting("isic18", "upper")
    assert tiny.prelude(ours, 1) is None
    prelude = tiny.prelude(upper, 1)
    assert prelude is not None
    assert prelude.stages == tiny.experiment(ours, 1).stages[:-1]
    without = read_profile("smoke", ["upper_warm_up=false"])
    assert without.prelude(upper, 1) is None


def test_leaving_a_client_out_does_not_change_the_config(tiny: Profile) -> None:
    whole, less = setting("svhn", "semianagg"), Setting("svhn", "semianagg", (), 3)
    assert tiny.experiment(whole, 1) == tiny.experiment(less, 1)


def test_the_published_partition_is_not_used_where_the_config_draws_its_own() -> None:
    paper = replace(read_profile("paper"), published={"svhn": "f.pth"})
    content = paper.content(setting("svhn", "semianagg"), 1)
    assert content["partition"]["file"] == "f.pth"
    content = paper.content(setting("svhn", "semianagg", dirichlet_alpha=0.1), 1)
    assert "file" not in content["partition"]


def test_an_unknown_profile_names_those_that_exist() -> None:
    with pytest.raises(ConfigError, match=f"FS4104 .*known: {', '.join(NAMES)}"):
        read_profile("large")


@pytest.mark.parametrize("override", ["data.nmae=x", "svhn.rounds", "cutof=0.5"])
def test_a_slip_in_an_override_is_refused_when_it_is_read_or_used(
    override: str,
) -> None:
    with pytest.raises(ConfigError):
        read_profile("smoke", [override]).experiment(setting("svhn", "lower"), 1)


def test_rules_are_chosen_with_other_seeds_than_they_are_judged_by() -> None:
    choosing, medium = read_profile("choosing"), read_profile("medium")
    place = QUESTIONS["q6"].settings[0]
    chosen = [choosing.experiment(place, seed) for seed in range(1, 6)]
    judged = [medium.experiment(place, seed) for seed in range(1, 41)]
    assert [each.seed for each in chosen] == [101, 102, 103, 104, 105]
    assert not {each.seed for each in chosen} & {each.seed for each in judged}
    same = chosen[0].model_copy(update={"seed": 1})
    assert same.sha256 == judged[0].sha256


def test_a_data_set_may_be_like_another_and_says_only_what_differs() -> None:
    tables = read_profile("medium").tables
    first, second = tables["cifar100"], tables["cifar100-lt"]
    assert {key for key in first if first[key] != second[key]} == {"data"}
    assert second["data"] == {**first["data"], "name": "cifar100-lt"}
    assert "like" not in second
