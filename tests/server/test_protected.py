"""What happens when a mean would hurt the labeled."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
import torch

from fedsemi.config.protection import AlarmSettings
from fedsemi.contributions import by_supervision
from fedsemi.data.dataset import ImageSet
from fedsemi.errors import ConfigError
from fedsemi.messages import ClientInfo, Update
from fedsemi.server.protected import Protected, protected
from fedsemi.state import ServerState

LABELED = Update(0, 0, {"x": torch.tensor([1.0])}, 10, 0)
MISLED = Update(9, 0, {"x": torch.tensor([-9.0])}, 0, 10, num_pseudo=10)
STATE = ServerState({"x": torch.tensor([1.0])}, (ClientInfo(0, 10, 0),))


@dataclass(frozen=True)
class Mean:
    """Eq. 2 on a model that is one number."""

    labeled_share: float = 0.5

    def aggregate(self, state, updates):
        shares = by_supervision(updates, self.labeled_share)
        return state.advanced(state.mixed(updates, shares), updates, shares)

    def gentler(self):
        share = (1 + self.labeled_share) / 2
        return share, replace(self, labeled_share=share)


class Positive:
    """Images are of class 1, which a model names if its number is positive."""

    held_out = ImageSet(
        torch.zeros(4, 1, 2, 2, dtype=torch.uint8), torch.ones(4, dtype=torch.long)
    )

    def probs(self, weights):
        up = float(weights["x"][0] > 0)
        return torch.tensor([[1 - up, up]]).expand(4, 2)


def run(action: str) -> tuple[ServerState, str | None]:
    method = protected(Mean(), Positive(), AlarmSettings(action=action))
    assert isinstance(method, Protected)
    return method.aggregate(STATE, [LABELED, MISLED]), method.taken()


def test_rolling_back_keeps_the_old_weights_and_ends_the_round() -> None:
    state, said = run("roll-back")
    assert state.round == 1
    assert state.weights is STATE.weights
    assert state.contributions == {}
    assert said is not None
    assert "rolled back" in said


def test_lowering_the_share_stops_at_the_first_that_does_not_hurt() -> None:
    # 0.5 gives -4, 0.75 gives -1.5, 0.875 gives -0.25, 0.9375 gives 0.375.
    state, said = run("lower-share")
    assert float(state.weights["x"]) == pytest.approx(0.375)
    assert state.contributions == pytest.approx({0: 0.9375, 9: 0.0625})
    assert said is not None
    assert "94%" in said


def test_a_mean_that_does_not_hurt_is_left_alone() -> None:
    method = protected(Mean(), Positive(), AlarmSettings(action="roll-back"))
    good = replace(MISLED, weights={"x": torch.tensor([3.0])})
    state = method.aggregate(STATE, [LABELED, good])
    assert float(state.weights["x"]) == 2
    assert method.taken() is None


@pytest.mark.parametrize("number", [3.0, -9.0])
def test_weights_are_scored_once_however_a_round_ends(number: float) -> None:
    seen = []

    class Watched(Positive):
        def probs(self, weights):
            seen.append(weights)
            return super().probs(weights)

    method = protected(Mean(), Watched(), AlarmSettings(action="roll-back"))
    update = replace(MISLED, weights={"x": torch.tensor([number])})
    state = STATE
    for _ in range(3):
        state = method.aggregate(state, [LABELED, update])
    assert len(seen) == 1 + 3


class Graded:
    """Of these images, a model names the part right that its number says."""

    def __init__(self, num: int) -> None:
        images = torch.zeros(num, 1, 2, 2, dtype=torch.uint8)
        self.held_out = ImageSet(images, torch.ones(num, dtype=torch.long))

    def probs(self, weights):
        num = len(self.held_out)
        right = torch.arange(num) < round(float(weights["x"][0]) * num)
        return torch.stack([~right, right], 1).float()


def falls(num: int, before: float, after: float) -> bool:
    """Tell whether a round is rolled back that lowers accuracy on so many images."""
    method = protected(Mean(1.0), Graded(num), AlarmSettings(action="roll-back"))
    state = replace(STATE, weights={"x": torch.tensor([before])})
    method.aggregate(state, [replace(LABELED, weights={"x": torch.tensor([after])})])
    return method.taken() is not None


def test_a_loss_that_few_images_explain_is_borne_as_by_the_warning() -> None:
    # 33 images: two standard errors of 79 % are 14 points, and 28 to 24 is 12.
    assert not falls(33, 28 / 33, 24 / 33)
    assert falls(33, 28 / 33, 22 / 33)
    # 1000 images: two standard errors are 3 points, so the tolerance of 5 decides.
    assert falls(1000, 0.85, 0.73)
    assert not falls(1000, 0.85, 0.81)


def test_warnings_alone_need_no_protection() -> None:
    method = Mean()
    assert protected(method, None, AlarmSettings()) is method


def test_protection_without_held_out_labels_is_refused() -> None:
    with pytest.raises(ConfigError, match="validation_fraction"):
        protected(Mean(), None, AlarmSettings(action="roll-back"))


@dataclass(frozen=True)
class Phased(ServerState):
    """A state that says how far a round has come."""

    phase: int = 0


@dataclass(frozen=True)
class InTwo:
    """Combines answers in the second phase of a round."""

    def aggregate(self, state, updates):
        if state.phase == 0:
            return replace(state, phase=1)
        shares = by_supervision(updates, 0.5)
        new = state.advanced(state.mixed(updates, shares), updates, shares)
        return replace(new, phase=0)


def test_a_round_that_is_rolled_back_in_its_last_phase_does_not_stay_there() -> None:
    method = protected(InTwo(), Positive(), AlarmSettings(action="roll-back"))
    begun = Phased({"x": torch.tensor([1.0])}, (ClientInfo(0, 10, 0),))
    state = begun
    for _ in range(2):
        state = method.aggregate(state, [LABELED, MISLED])
    assert (state.round, state.phase) == (1, 0)
    assert state.weights is begun.weights
