"""What a method needs of a federation is said before the first round."""

from __future__ import annotations

from typing import Any

import pytest

from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ProtocolError
from fedsemi.messages import ClientInfo
from fedsemi.methods import METHODS
from fedsemi.objectives.workbench import Setup
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation

LABELED = ClientInfo(0, num_labeled=5, num_unlabeled=0)
UNLABELED = ClientInfo(1, num_labeled=0, num_unlabeled=5)
EMPTY = ClientInfo(2, num_labeled=0, num_unlabeled=0)


@pytest.fixture
def method(setup: Setup) -> Any:
    """One that needs both."""
    made = METHODS["isofed"](setup)
    assert set(made.needs) == {"labels", "unlabeled images"}
    return made


def test_one_client_with_what_is_needed_is_enough(method: Any) -> None:
    method.check_needs([UNLABELED, LABELED, EMPTY])


def test_a_federation_without_labels_is_told_which_setting_gives_some(
    method: Any,
) -> None:
    with pytest.raises(ProtocolError, match=r"FS2121 isofed needs .* 2 clients"):
        method.check_needs([UNLABELED, EMPTY])


def test_a_federation_in_which_all_is_labeled_is_told_what_to_use_instead(
    method: Any,
) -> None:
    with pytest.raises(ProtocolError, match=r"FS2122 isofed needs .*use supervised"):
        method.check_needs([LABELED, EMPTY])


def test_nobody_at_all_is_not_enough(method: Any) -> None:
    with pytest.raises(ProtocolError):
        method.check_needs([])


def test_a_later_stage_is_refused_before_the_ones_ahead_of_it_are_trained(
    small_config: dict[str, Any],
) -> None:
    stages = [{"method": "supervised", "rounds": 1}, {"method": "fl2", "rounds": 1}]
    labeled = small_config["partition"] | {"labeled_clients": "all"}
    content = small_config | {"partition": labeled, "stages": stages}
    with pytest.raises(ProtocolError, match=r"FS2122 fl2 needs .*use supervised"):
        run_simulation(build(make_experiment(content)))
