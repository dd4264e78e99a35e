from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from fedsemi.config.experiment import make_experiment
from fedsemi.engine import Absence, Engine
from fedsemi.messages import ClientInfo
from fedsemi.runs.folder import RunFolder
from fedsemi.server.members import AWAY, CAME, LEFT, with_members
from fedsemi.simulation.build import Simulation, build
from fedsemi.simulation.run import run_simulation
from fedsemi.state import ServerState
from fedsemi.weights import digest

_LABELED, _OTHER, _NEW = ClientInfo(0, 9, 0), ClientInfo(1, 0, 5), ClientInfo(2, 0, 7)


class Engineless(Engine):
    """Says who is there, and carries nothing out."""

    def __init__(self, *clients: ClientInfo, away: Mapping[int, Absence] | None = None):
        self._clients, self._away = clients, away or {}

    def clients(self):
        return self._clients

    def absent(self, round):
        return self._away

    def run(self, tasks):
        raise AssertionError

    memory = restore = run


def _state(*clients: ClientInfo, away: tuple[int, ...] = ()) -> ServerState:
    return ServerState({"x": torch.zeros(1)}, clients, round=4, away=away)


def _codes(notices):
    return [(each.client, each.code) for each in notices]


def begun(state, engine):
    return with_members(state, engine.clients(), engine.absent(state.round))


def test_nothing_changes_while_nobody_comes_or_goes():
    state = _state(_LABELED, _OTHER)
    same, notices = begun(state, Engineless(_LABELED, _OTHER))
    assert same is state and notices == ()


def test_who_is_only_disconnected_stays_a_member():
    """It may be back in a moment, and its answer counts as missing till then."""
    state, notices = begun(_state(_LABELED, _OTHER), Engineless(_LABELED))
    assert state.clients == (_LABELED, _OTHER) and notices == ()


def test_who_comes_is_taken_in_and_noted():
    state, notices = begun(_state(_LABELED), Engineless(_NEW, _LABELED))
    assert state.clients == (_LABELED, _NEW)
    assert _codes(notices) == [(2, CAME)]
    assert "has joined: 0 labeled, 7 unlabeled" in str(notices[0])
    assert notices[0].round == 4


def test_who_is_away_is_remembered_and_comes_back():
    engine = Engineless(_LABELED, _OTHER, away={1: Absence("is away")})
    state, notices = begun(_state(_LABELED, _OTHER), engine)
    assert (state.clients, state.away) == ((_LABELED,), (1,))
    assert _codes(notices) == [(1, AWAY)]
    again, none = begun(state, engine)
    assert (again.away, none) == ((1,), ())
    back, notices = begun(state, Engineless(_LABELED, _OTHER))
    assert (back.clients, back.away) == ((_LABELED, _OTHER), ())
    assert _codes(notices) == [(1, CAME)] and "is back" in notices[0].reason


def test_who_leaves_for_good_is_forgotten():
    gone = {1: Absence("has left", for_good=True)}
    engine = Engineless(_LABELED, _OTHER, away=gone)
    state, notices = begun(_state(_LABELED, _OTHER), engine)
    assert (state.clients, state.away) == ((_LABELED,), ())
    assert _codes(notices) == [(1, LEFT)]
    state, _ = begun(_state(_LABELED, away=(1,)), engine)
    assert state.away == ()


def _simulation(*members: dict[str, Any], method="cbafed") -> Simulation:
    content = {
        "seed": 3,
        "data": {"name": "synthetic", "train_limit": 60, "test_limit": 8},
        "partition": {"num_clients": 4},
        "model": {"name": "resnet8", "width": 2},
        "local": {"batch_size": 16},
        "membership": list(members),
        "stages": [
            {"method": "supervised", "rounds": 1},
            {"method": method, "rounds": 5},
        ],
    }
    return build(make_experiment(content))


_MEMBERS = (
    {"site": 1, "joins": 3},
    {"site": 2, "away": 3, "back": 5},
    {"site": 3, "leaves": 4},
)


@pytest.fixture(scope="module")
def steps():
    return list(run_simulation(_simulation(*_MEMBERS, method="semianagg")))


def test_rounds_are_those_of_their_members_and_shares_sum_to_one(steps):
    seen = [sorted(step.record.clients) for step in steps]
    # The warm-up asks labeled clients alone.
    assert seen == [[0], [0, 2, 3], [0, 1, 3], [0, 1], [0, 1, 2], [0, 1, 2]]
    for step in steps:
        shares = [each.contribution for each in step.record.clients.values()]
        assert sum(shares) == pytest.approx(1)


def test_who_came_and_went_is_in_the_records(steps):
    noted = [
        [(each.client, each.code) for each in step.record.notices if each.code > "FS5"]
        for step in steps
    ]
    assert noted == [[], [], [(1, CAME), (2, AWAY)], [(3, LEFT)], [(2, CAME)], []]


@pytest.mark.parametrize("method", ["semianagg", "rscfed"])
def test_a_run_that_was_stopped_while_a_site_is_away_goes_on_with_the_same_bits(
    method, tmp_path: Path
):
    simulation = _simulation(*_MEMBERS, method=method)
    *_, last = run_simulation(simulation)
    with RunFolder.new(tmp_path / "run", simulation) as folder:
        for step in run_simulation(simulation):
            folder.append(step)
            folder.save(step)
            if step.record.stage == 1 and step.record.round == 3:
                break
    with RunFolder.resume(tmp_path / "run", simulation) as folder:
        *_, resumed = run_simulation(simulation, start=folder.start)
    assert digest(resumed.weights) == digest(last.weights)
