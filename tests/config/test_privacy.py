"""[privacy]: off by default, and nothing beside it that needs to see single sites."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from fedsemi.config.experiment import Experiment, make_experiment
from fedsemi.config.privacy import said_of
from fedsemi.errors import ConfigError
from fedsemi.simulation.build import build


def _experiment(**changes: Any) -> Experiment:
    content = {
        "data": {"name": "digits"},
        "model": {"name": "resnet8"},
        "stages": [{"method": "semianagg", "rounds": 3}],
    }
    return make_experiment(content | changes)


def test_no_experiment_without_it_has_another_name() -> None:
    written = _experiment(privacy={"masked": False, "least_sites": 3, "clip": 100.0})
    assert written.sha256 == _experiment().sha256


@pytest.mark.parametrize(
    "settings",
    [{"least_sites": 2}, {"threshold": 0.49}, {"threshold": 1.0}, {"clip": 128.0}],
)
def test_settings_under_which_masks_hide_nothing_are_refused(
    settings: dict[str, Any],
) -> None:
    with pytest.raises(ConfigError):
        _experiment(privacy=settings)


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"guard": {"enabled": True, "norm_limit": 3.0}}, "guard.norm_limit"),
        ({"guard": {"enabled": True, "cap": 3.0}}, "guard.cap"),
        ({"alarms": {"action": "lower-share"}}, "alarms.action"),
    ],
)
def test_what_needs_to_see_single_sites_is_refused_by_name(
    other: dict[str, Any], named: str
) -> None:
    with pytest.raises(ConfigError, match=f"FS6001.*{named}"):
        _experiment(privacy={"masked": True}, **other)


def test_groups_leave_names_of_plans_without_them_alone() -> None:
    assert _experiment(privacy={"groups": 1}).sha256 == _experiment().sha256


@pytest.mark.parametrize(
    ("privacy", "named"),
    [
        ({"groups": 3}, r"set privacy\.masked = true"),
        (
            {"groups": 3, "masked": True, "noise_multiplier": 1.0},
            r"does not go with privacy\.noise_multiplier",
        ),
    ],
)
def test_groups_are_refused_where_they_would_be_of_no_use(
    privacy: dict[str, Any], named: str
) -> None:
    with pytest.raises(ConfigError, match=f"FS6020 .*{named}"):
        _experiment(privacy=privacy)


def test_in_groups_there_are_steps_to_bound_but_no_claims() -> None:
    groups = {"masked": True, "groups": 3}
    _experiment(privacy=groups, guard={"enabled": True, "norm_limit": 3.0})
    with pytest.raises(ConfigError, match=r"FS6001.*guard\.cap"):
        _experiment(privacy=groups, guard={"enabled": True, "cap": 3.0})


def test_too_few_sites_for_groups_are_refused_before_the_warm_up() -> None:
    privacy = {"masked": True, "groups": 3, "plain_warm_up": True}
    few = _experiment(
        data={"name": "synthetic"}, partition={"num_clients": 5}, privacy=privacy
    )
    with pytest.raises(ConfigError, match=r"FS6020 .*needs 6 sites"):
        build(few)


@pytest.mark.parametrize(
    ("guard", "told"),
    [
        ({"enabled": True}, "the steps of 3 groups of 3 sites or more are compared"),
        ({"enabled": False}, "nothing compares 3 groups of 3 sites or more"),
    ],
)
def test_a_run_says_whether_its_groups_are_compared(guard: Any, told: str) -> None:
    privacy = {"masked": True, "groups": 3}
    experiment = _experiment(privacy=privacy, guard=guard)
    assert told in said_of(experiment.privacy, experiment.guard)
    alone = _experiment(privacy={"masked": True})
    assert "groups" not in said_of(alone.privacy, alone.guard)


def test_a_budget_that_no_noise_keeps_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"FS6110 privacy\.budget_epsilon needs"):
        _experiment(privacy={"budget_epsilon": 8.0})


@pytest.mark.parametrize(
    "other",
    [
        {"guard": {"enabled": True}},
        {"alarms": {"action": "roll-back"}},
    ],
)
def test_what_looks_at_single_sites_does_not_go_with_noise(other: Any) -> None:
    noise = {"noise_multiplier": 1.0, "statistics_noise": 1.0}
    with pytest.raises(ConfigError, match=r"FS6110 with privacy\.noise_multiplier"):
        _experiment(privacy=noise, **other)


@pytest.mark.parametrize(
    "settings",
    [{"noise_multiplier": -1.0}, {"delta": 0.0}, {"delta": 1.0}, {"budget_epsilon": 0}],
)
def test_impossible_promises_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="FS4102"):
        _experiment(privacy=settings)


def test_without_the_package_for_masks_all_else_works_and_masks_name_it() -> None:
    code = """
import sys
sys.modules["cryptography"] = None
import fedsemi.cli, fedsemi.cli.attack, fedsemi.simulation.run
from fedsemi.config.privacy import PrivacySettings, masked
from fedsemi.errors import ConfigError
try:
    masked(None, PrivacySettings(masked=True), "", 1)
except ConfigError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("FS6012")
    assert "fedsemi[private]" in done.stdout
