"""The arms: what each row of a table is made of."""

from __future__ import annotations

from dataclasses import fields

import pytest

from fedsemi.errors import ConfigError
from fedsemi.evidence.arms import ARMS, WARM_UP, WARM_UPS, arm_of
from fedsemi.methods import METHODS

AVERAGING = ("fedavg", "fedavg-semi", "uniform", "permuted", "presence", "semianagg")


@pytest.mark.parametrize("name", ARMS)
def test_every_step_sets_what_its_method_has(name: str) -> None:
    for step in ARMS[name].steps:
        known = {field.name for field in fields(METHODS[step.method])} - {"setup"}
        assert set(step.settings) <= known | {"local"}


def test_averaging_methods_differ_in_nothing_but_how_they_weigh() -> None:
    weighing = {"rule", "sharpness", "labeled_share", "anchor_seed"}
    for name in AVERAGING:
        warm_up, last = ARMS[name].steps
        assert warm_up is WARM_UP
        assert set(last.settings) - weighing == {"learner"}
        assert (
            last.settings["learner"] == ARMS["semianagg"].steps[1].settings["learner"]
        )


def test_a_warm_up_arm_is_the_first_step_of_the_arms_that_share_it() -> None:
    for name in WARM_UPS:
        (only,) = ARMS[name].steps
        sharing = [arm for arm in ARMS.values() if arm.steps[0] is only]
        assert len(sharing) > 1


def test_bounds_have_one_step_and_only_the_upper_one_has_all_labels() -> None:
    assert [step.rounds for step in ARMS["lower"].steps] == ["total"]
    assert ARMS["lower"].partition == {}
    assert [step.rounds for step in ARMS["upper"].steps] == ["upper"]
    assert ARMS["upper"].partition["labeled_clients"] == "all"


def test_an_encoder_without_labels_is_probed_and_one_with_a_head_is_not() -> None:
    probed = {name for name, arm in ARMS.items() if arm.probes}
    assert probed == {"fedbarlow", "orchestra"}


def test_no_two_arms_have_one_title() -> None:
    titles = [arm.title for arm in ARMS.values()]
    assert len(set(titles)) == len(titles)


def test_a_slip_in_the_name_of_an_arm_gets_the_nearest_one() -> None:
    assert arm_of("rscfed") is ARMS["rscfed"]
    with pytest.raises(ConfigError, match=r"FS4104 .*did you mean 'rscfed'"):
        arm_of("rscfad")
