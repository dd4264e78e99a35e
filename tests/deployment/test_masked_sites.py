"""Masked rounds on sites of their own: same bits, also if the coordinator is killed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from flwr.app import Message

from fedsemi.config.blueprint import read_blueprint
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

SITES = 5


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


def _run(
    grid: LoopbackGrid, simulation: Simulation, sites: int = SITES
) -> Iterator[Step]:
    roster = Roster(grid, simulation)
    roster.wait_for(sites, 10)
    yield from run_on_grid(grid, simulation, Judge(), roster, Patience(5.0))


def test_sites_of_their_own_have_the_bits_of_the_simulation(
    simulation: Simulation, bits: str
) -> None:
    with dealt(simulation) as app:
        (*_, last) = _run(LoopbackGrid(app, SITES), simulation)
    assert digest(last.weights) == bits


@pytest.mark.parametrize(
    "step", [0, 5, *(pytest.param(step, marks=pytest.mark.slow) for step in (2, 7))]
)
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
        pytest.param(step, marks=[] if step == 5 else pytest.mark.slow)
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


@pytest.fixture(scope="module")
def grouped() -> Simulation:
    """Six sites in two groups, and a guard that compares these."""
    content: dict[str, Any] = {
        "data": {"name": "synthetic", "train_limit": 240},
        "partition": {"num_clients": 6, "scheme": "iid"},
        "model": {"name": "resnet8", "width": 4},
        "privacy": {"masked": True, "groups": 2},
        "guard": {"enabled": True},
        "stages": [{"method": "semianagg", "rounds": 2}],
    }
    return build(make_experiment(content))


def test_sites_in_groups_have_the_bits_of_the_simulation_also_after_a_kill(
    grouped: Simulation,
) -> None:
    steps = list(run_simulation(grouped))
    due = [len(each.record.groups) for each in steps], digest(steps[-1].weights)
    with dealt(grouped) as app:
        grid = Watched(app, 6)
        grid.kill_at = (1, 5)
        with suppress(Killed):
            list(_run(grid, grouped, 6))
        again = list(_run(LoopbackGrid(app, 6), grouped, 6))
    assert ([2, 2], digest(again[-1].weights)) == due
    assert [each.record.groups for each in again] == [s.record.groups for s in steps]


@pytest.mark.slow
@pytest.mark.parametrize("step", range(4, len(STEPS)))
def test_a_message_lost_in_groups_costs_one_group_the_round_at_most(
    grouped: Simulation, step: int
) -> None:
    with dealt(grouped) as app:
        grid = Watched(app, 6)
        grid.lost_at = (0, step, 3)
        first, second = _run(grid, grouped, 6)
    assert not first.record.skipped and not second.record.skipped
    left = [bool(each.summed) for each in first.record.groups]
    assert sum(left) >= 1 and all(each.summed for each in second.record.groups)


def test_an_owner_reads_how_small_the_groups_may_be(grouped: Simulation) -> None:
    told = described(terms_of(grouped))
    assert "sends its parts of masked sums alone, some of 3 sites" in told


def test_a_plan_without_groups_is_written_as_before_there_were_any(
    simulation: Simulation, grouped: Simulation
) -> None:
    assert '"groups"' not in simulation.as_json()
    assert '"groups": 2' in grouped.as_json()
    assert read_blueprint(grouped.as_json()).sha256 == grouped.sha256


def test_groups_follow_from_the_seed_and_not_from_where_files_lie(
    grouped: Simulation,
) -> None:
    """A run that begins with a model, or goes on for longer, meets the same sites."""
    content = grouped.experiment.model_dump(mode="json", exclude_none=True)
    content["stages"][0]["rounds"] = 9
    longer = replace(grouped, experiment=make_experiment(content))
    seeds = [
        each.method(each.experiment.stages[0]).terms.rules.seed
        for each in (grouped, longer)
    ]
    assert longer.sha256 != grouped.sha256
    assert seeds[0] == seeds[1]
