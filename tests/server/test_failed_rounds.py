"""The best model is kept, although the answers of its round make no mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest
import torch

from fedsemi.client.findings import held_out_accuracy
from fedsemi.errors import RoundFailed
from fedsemi.messages import Update
from fedsemi.server.gate import Gate
from fedsemi.server.guard_state import Evidence
from fedsemi.server.rounds import Round, run
from fedsemi.state import GateState, GuardState, ServerState

from .test_rounds import CLIENTS, GUARDED, Flaky, Toy, judged


@dataclass(frozen=True)
class Phased(ServerState):
    phase: int = 0


class Failing(Toy):
    """Asks once or more in a round; in some rounds the last answers make no mean."""

    def __init__(self, failing: set[int], phases: int) -> None:
        self.failing, self.phases = failing, phases

    def aggregate(self, state: Any, updates: Sequence[Update]) -> Any:
        if state.phase + 1 < self.phases:
            return replace(state, phase=state.phase + 1)
        if state.round in self.failing:
            raise RoundFailed("too few shares", "FS6008")
        return replace(super().aggregate(state, updates), phase=0)


def rounds_of(
    right: Sequence[float], failing: set[int], phases: int = 1, **begin: Any
) -> tuple[list[torch.Tensor], list[Round[ServerState]]]:
    """Return models before and after each round, found right in so many of 1,000."""
    fresh = Toy().init({"x": torch.zeros(50)}, CLIENTS)
    state: ServerState = Phased(**{**vars(fresh), **begin})
    evidence = Evidence(held_out=partial(held_out_accuracy, num_classes=1))
    engine = Flaky(lambda u: judged(u, right[u.round]))
    gate = Gate(GUARDED, evidence=evidence)
    done = list(run(Failing(failing, phases), engine, state, len(right), gate))
    assert {i for i, each in enumerate(done) if each.skipped} >= failing
    models = [state.weights["x"], *(each.state.weights["x"] for each in done)]
    return models, done


@pytest.mark.parametrize("phases", [1, 2])
def test_a_worse_model_is_left_for_the_best_one_of_a_round_that_failed(
    phases: int,
) -> None:
    out, done = rounds_of([900.0, 500.0], {0}, phases)
    assert [n.code for n in done[1].notices][:1] == ["FS2141"]
    assert torch.equal(out[2], out[0])  # and not moved by replies that nobody bounded


@pytest.mark.parametrize("phases", [1, 2])
def test_a_worse_model_is_not_left_for_an_older_one_than_the_best(phases: int) -> None:
    out, _ = rounds_of([700.0, 800.0, 600.0], {1}, phases)
    assert not torch.equal(out[1], out[0])
    assert torch.equal(out[3], out[1])  # 80 %, and not the first one of 70 %


def test_a_worse_model_stays_where_nobody_has_kept_a_better_one() -> None:
    """As in a checkpoint of a release that forgot it when a round had failed."""
    before = GateState(guard=GuardState(best=0.9))
    out, done = rounds_of([500.0, 500.0], set(), gate=before)
    (notice,) = done[0].notices
    assert notice.code == "FS2141" and "back to that model" not in notice.reason
    assert done[0].skipped and torch.equal(out[1], out[0])
    # From then on models are held against this one.
    assert done[1].state.gate.guard.best == 0.5 and not done[1].skipped
    assert done[1].state.gate.skipped == 0
    assert not torch.equal(out[2], out[1])
