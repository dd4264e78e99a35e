"""Sites that die, stay silent or come late must not stop the others."""

from __future__ import annotations

import pytest

pytest.importorskip("flwr")

import httpx
from flwr.app import Error, Message

from fedsemi.deployment.coordinator import roster
from fedsemi.deployment.coordinator.engine import Patience
from fedsemi.deployment.one_machine.loopback import LoopbackGrid
from fedsemi.deployment.one_machine.simulate import dealt, run_on_grid
from fedsemi.server.stages import Judge

from .conftest import tiny

_DEADLINE = 600.0


class Grid(LoopbackGrid):
    """Counts what node 3 is asked, and lets it do something else than train."""

    def __init__(self, app, nodes, spoil=None):
        super().__init__(app, nodes)
        self.asked = 0
        self._spoil = spoil

    def answer(self, message):
        ours = message.metadata.dst_node_id == 3
        if ours and message.metadata.message_type == "train" and self._spoil:
            self.asked += 1
            return self._spoil(message)
        return super().answer(message)

    def pull_messages(self, message_ids):
        return [reply for reply in super().pull_messages(message_ids) if reply]


def _run(simulation, grid, sites=3, between=None):
    found = roster.Roster(grid, simulation)
    found.wait_for(sites, 10)
    records = []
    for step in run_on_grid(grid, simulation, Judge(), found, Patience(_DEADLINE)):
        records.append(step.record)
        if between is not None:
            between(step.record)
    return records


def _rounds(records):
    """Name the sites that were used in each round of the second stage."""
    return ["".join(map(str, r.clients)) for r in records if r.stage == 1]


def test_a_site_whose_training_dies_is_soon_no_longer_asked(clock):
    simulation = tiny(rounds=6)
    with dealt(simulation) as app:
        grid = Grid(app, 3, lambda m: Message(Error(1, "killed"), reply_to=m))
        records = _run(simulation, grid)
    assert _rounds(records) == ["01"] * 6
    assert clock.now < 60  # nobody waited for a deadline
    assert grid.asked == 3 * 3  # three rounds, each with two repeats
    seconds = [r for r in records if r.stage == 1]
    assert [[str(d) for d in r.dropped] for r in seconds[:4]] == [
        [f"FS5031 round {n}: client 2 the site broke the task off: killed"]
        for n in (1, 2, 3)
    ] + [[]]
    assert "FS2112" in [notice.code for notice in seconds[2].notices]


def test_a_superlink_that_is_busy_for_minutes_costs_no_answer(clock):
    class Busy(Grid):
        def push_messages(self, messages):
            if 100 < clock.now < 400:
                clock.sleep(1)
                raise httpx.ConnectError("busy")
            return super().push_messages(messages)

    simulation = tiny(rounds=2)
    with dealt(simulation) as app:
        grid = Busy(app, 3)
        records = _run(simulation, grid, between=lambda _: clock.sleep(101))
    assert _rounds(records) == ["012"] * 2
    assert 400 < clock.now < 700
    assert not any(record.dropped for record in records)


def test_a_silent_site_costs_fewer_and_fewer_deadlines(clock):
    simulation = tiny(rounds=12)
    with dealt(simulation) as app:
        grid = Grid(app, 3, lambda message: None)
        records = _run(simulation, grid)
    assert _rounds(records) == ["01"] * 12
    # Asked in rounds 1 and 2; it rests for one, for three, and then for seven.
    assert grid.asked == 4
    assert clock.now == pytest.approx(4 * _DEADLINE, abs=60)
    assert not any(record.dropped for record in records)  # late is no offense


def test_a_site_that_was_silent_counts_again_when_it_answers(clock):
    simulation = tiny(rounds=5)
    with dealt(simulation) as app:
        grid = Grid(app, 3, lambda message: None)

        def recover(record):
            if record.stage == 1 and record.round == 2:
                grid._spoil = None

        records = _run(simulation, grid, between=recover)
    assert _rounds(records) == ["01", "01", "01", "012", "012"]


def test_a_late_joiner_is_asked_from_the_next_round_on(clock):
    simulation = tiny(rounds=4)
    with dealt(simulation) as app:
        grid = Grid(app, 3)
        late = grid._contexts.pop(3)

        def join(record):
            if record.stage == 1 and record.round == 2:
                grid._contexts[3] = late

        records = _run(simulation, grid, sites=2, between=join)
    assert _rounds(records) == ["01", "01", "012", "012"]


def test_a_site_that_is_away_is_neither_waited_for_nor_punished(clock):
    simulation = tiny(rounds=5)
    with dealt(simulation) as app:
        grid = Grid(app, 3)

        def leave_and_return(record):
            if record.stage == 0:
                grid.kept = grid._contexts.pop(3)
            elif record.round == 4:
                grid._contexts[3] = grid.kept

        records = _run(simulation, grid, between=leave_and_return)
    assert _rounds(records) == ["01", "01", "01", "01", "012"]
    assert not any(record.dropped for record in records)
    assert clock.now < 60
