"""BC-6: an answer after the deadline is discarded, and nothing else changes."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("flwr")

from fedsemi.deployment.coordinator import roster
from fedsemi.deployment.coordinator.engine import Patience
from fedsemi.deployment.one_machine.loopback import LoopbackGrid
from fedsemi.deployment.one_machine.simulate import dealt, run_on_grid
from fedsemi.engines.in_process import InProcess
from fedsemi.server.stages import Judge, run_stages
from fedsemi.weights import digest

from .conftest import tiny

_DEADLINE = 60.0


class Slow(LoopbackGrid):
    """Answers of nodes without labels take up to three times the deadline."""

    def __init__(self, app, num_nodes, clock):
        super().__init__(app, num_nodes)
        self._clock, self._due = clock, {}
        self._dice = random.Random(6)

    def push_messages(self, messages):
        ids = list(super().push_messages(messages))
        for message, id in zip(messages, ids, strict=True):
            training = message.metadata.message_type == "train"
            slow = training and message.metadata.dst_node_id > 1
            delay = self._dice.uniform(0, 3 * _DEADLINE) if slow else 0.0
            self._due[id] = self._clock.now + delay
        return ids

    def pull_messages(self, ids):
        return super().pull_messages(
            [id for id in ids if self._due[id] <= self._clock.now]
        )


class Absent(InProcess):
    """Asks nobody who was late in that round."""

    def __init__(self, method, clients, stage, heard):
        super().__init__(method, clients)
        self._stage, self._heard = stage, heard

    def run(self, tasks):
        there = [t for t in tasks if t.client in self._heard[self._stage, t.round + 1]]
        return super().run(there)


def check_late_answers(rounds, clock, promise):
    simulation = tiny(rounds=rounds)
    clients = simulation.federation.clients
    with dealt(simulation) as app:
        grid = Slow(app, len(clients), clock)
        sites = roster.Roster(grid, simulation)
        sites.wait_for(len(clients), 10)
        patience = Patience(_DEADLINE, quorum=0.0)
        late = list(run_on_grid(grid, simulation, Judge(), sites, patience))
    heard = {(s.record.stage, s.record.round): set(s.record.clients) for s in late}

    def absent(method, stage):
        return Absent(method, clients, stage, heard)

    without = list(run_stages(simulation, absent, Judge()))
    missing = sum(len(clients) - len(ids) for (stage, _), ids in heard.items() if stage)
    pairs = zip(late, without, strict=True)
    failed = sum(digest(a.weights) != digest(b.weights) for a, b in pairs)
    promise("BC-6 rounds with stragglers, bits as if they were absent", rounds, failed)
    assert missing > rounds / 2 and failed == 0


def test_a_late_answer_leaves_the_bits_of_an_absent_site(clock, promise):
    check_late_answers(16, clock, promise)


@pytest.mark.slow
def test_late_answers_over_a_hundred_rounds_change_no_bit(clock, promise):
    check_late_answers(100, clock, promise)
