"""Masked rounds on sites of their own: same bits, also if the coordinator is killed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from flwr.app import Message

from fedsemi.config.experiment import make_experiment
from fedsemi.deployment.codec import decode_order
from fedsemi.deployment.coordinator.engine import Patience
from fedsemi.deployment.coordinator.on_grid import run_on_grid
from fedsemi.deployment.coordinator.roster import Roster
from fedsemi.deployment.one_machine.loopback import LoopbackGrid
from fedsemi.deployment.one_machine.simulate import dealt
from fedsemi.deployment.site.terms import described, terms_of
from fedsemi.privacy.steps import STEPS
from fedsemi.runs.records import Step
from fedsemi.server.stages import Judge
from fedsemi.simulation.build import Simulation, build
from fedsemi.simulation.run import run_simulation
from fedsemi.weights import digest

SITES = 4


class Killed(BaseException):
    """Stands for a coordinator whose process ends."""


class Watched(LoopbackGrid):
    """A grid whose coordinator may end at a step, and some of whose sites be lost."""

    kill_at: tuple[int, int] | None = None
    """Round and step of the message at which the coordinator ends."""
    lost_at: tuple[int, int, int] | None = None
    """Round, step and client of the message that never arrives."""

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        ids: list[str] = []
        for message in messages:
            if message.metadata.message_type == "train":
                task = decode_order(message.content).task
                if self.kill_at == (task.round, task.group) and task.client == 2:
                    self.kill_at = None
                    raise Killed
                if self.lost_at == (task.round, task.group, task.client):
                    continue
            ids += super().push_messages([message])
        return ids


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    content: dict[str, Any] = {
        "data": {"name": "synthetic", "train_limit": 160},
        "partition": {"num_clients": SITES, "scheme": "iid"},
        "model": {"name": "resnet8", "width": 4},
        "privacy": {"masked": True},
        "stages": [{"method": "semianagg", "rounds": 2}],
    }
    return build(make_experiment(content))


@pytest.fixture(scope="module")
def bits(simulation: Simulation) -> str:
    (*_, last) = run_simulation(simulation)
    return digest(last.weights)


def _run(grid: LoopbackGrid, simulation: Simulation) -> Iterator[Step]:
    roster = Roster(grid, simulation)
    roster.wait_for(SITES, 10)
    yield from run_on_grid(grid, simulation, Judge(), roster, Patience(5.0))


def test_sites_of_their_own_have_the_bits_of_the_simulation(
    simulation: Simulation, bits: str
) -> None:
    with dealt(simulation) as app:
        (*_, last) = _run(LoopbackGrid(app, SITES), simulation)
    assert digest(last.weights) == bits


@pytest.mark.parametrize("step", [0, 2, 5, 7])
def test_a_coordinator_that_is_killed_in_a_round_goes_on_to_the_same_bits(
    simulation: Simulation, bits: str, step: int
) -> None:
    with dealt(simulation) as app:
        grid = Watched(app, SITES)
        grid.kill_at = (1, step)
        with suppress(Killed):
            list(_run(grid, simulation))
        assert grid.kill_at is None
        # It had saved nothing, so that the first round is asked again as well.
        (*_, last) = _run(Watched(app, SITES), simulation)
    assert digest(last.weights) == bits


def test_after_a_sum_was_opened_no_smaller_set_is(simulation: Simulation) -> None:
    """A restarted coordinator that has lost a site may not sum without it."""
    with dealt(simulation) as app:
        grid = Watched(app, SITES)
        grid.kill_at = (1, 0)
        with suppress(Killed):
            list(_run(grid, simulation))
        again = Watched(app, SITES)
        again.lost_at = (0, 0, 3)
        first, second = _run(again, simulation)
    assert first.record.skipped
    assert not second.record.skipped
    assert {each.code for each in first.record.dropped} == {"FS5032"}
    assert all("opened before" in each.reason for each in first.record.dropped)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(step, marks=[] if step in (0, 5) else pytest.mark.slow)
        for step in range(len(STEPS))
    ],
)
def test_a_message_lost_at_any_step_costs_that_site_at_most_the_round(
    simulation: Simulation, step: int
) -> None:
    with dealt(simulation) as app:
        grid = Watched(app, SITES)
        grid.lost_at = (0, step, 3)
        steps = list(_run(grid, simulation))
    assert [each.record.skipped for each in steps] == [False, False]


def test_an_owner_reads_that_nothing_but_sums_leaves_the_site(
    simulation: Simulation,
) -> None:
    told = described(terms_of(simulation))
    assert "sends its parts of masked sums alone" in told
    assert "model" not in told
