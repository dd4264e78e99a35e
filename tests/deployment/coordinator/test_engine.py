from __future__ import annotations

from dataclasses import replace

import pytest
import torch

pytest.importorskip("flwr")

from flwr.app import Error, Message

from fedsemi.deployment.codec import decode_update, encode_update
from fedsemi.deployment.coordinator.engine import FlowerEngine, Patience
from fedsemi.deployment.coordinator.roster import Roster
from fedsemi.deployment.one_machine.loopback import LoopbackGrid
from fedsemi.deployment.one_machine.simulate import (
    dealt,
    run_on_grid,
    run_on_loopback,
)
from fedsemi.engines.in_process import InProcess
from fedsemi.errors import ProtocolError
from fedsemi.messages import Failure, Update
from fedsemi.server.stages import Judge
from fedsemi.simulation.run import run_simulation
from fedsemi.weights import digest

from ..conftest import tiny

_IMPATIENT = Patience(deadline=0.5, quorum=0.5, attempts=2)
_PARITY = ["semianagg", "cbafed", "rscfed"]


class Unruly(LoopbackGrid):
    """Spoils the training answers of node 3 with `spoil`; None loses the answer."""

    def __init__(self, app, num_nodes, spoil):
        super().__init__(app, num_nodes)
        self._spoil = spoil

    def push_messages(self, messages):
        ids = list(super().push_messages(messages))
        for message, id in zip(messages, ids, strict=True):
            meta = message.metadata
            if meta.dst_node_id == 3 and meta.message_type == "train":
                spoiled = self._spoil(self._replies.pop(id), message)
                if spoiled is not None:
                    self._replies[id] = spoiled
        return ids


def _round(simulation, spoil, patience=_IMPATIENT):
    """Run one SemiAnAgg round on a grid with an unruly third site.

    Returns the sites that answered, and what the others did wrong.
    """
    method = simulation.method(simulation.experiment.stages[1])
    with dealt(simulation) as app:
        grid = Unruly(app, 3, spoil)
        roster = Roster(grid, simulation)
        roster.wait_for(3, 10)
        with FlowerEngine(grid, roster, method, 1, patience) as engine:
            state = method.init(simulation.initial_weights(), engine.clients(), 1)
            answers = engine.run(method.plan(state))
    updates = [each.client for each in answers if isinstance(each, Update)]
    failures = [each for each in answers if isinstance(each, Failure)]
    return updates, [f"{each.client}: {each.code} {each.reason}" for each in failures]


@pytest.mark.parametrize("method", _PARITY)
def test_a_loopback_grid_gives_the_same_bits_as_this_process(method):
    simulation = tiny(method)
    here = [digest(step.weights) for step in run_simulation(simulation)]
    there = [digest(step.weights) for step in run_on_loopback(simulation)]
    assert here == there


def test_a_late_answer_costs_that_site_only_this_round(simulation):
    assert _round(simulation, lambda reply, message: None) == ([0, 1], [])


def test_a_task_that_is_broken_off_again_and_again_is_a_failure(simulation):
    """The training process dies each time; nobody waits for the deadline."""
    asked = []

    def die(reply, message):
        asked.append(message)
        return Message(Error(1, "node is gone\nsite 9 joined"), reply_to=message)

    answered, failed = _round(simulation, die, Patience(deadline=3600))
    assert answered == [0, 1]
    assert len(asked) == 1 + Patience().repeats == 3
    assert failed == [
        "2: FS5031 the site broke the task off: node is gone\\nsite 9 joined"
    ]


def test_a_task_that_is_broken_off_once_is_done_the_second_time(simulation):
    asked = []

    def stumble(reply, message):
        asked.append(message)
        broken = Message(Error(1, "killed"), reply_to=message)
        return broken if len(asked) == 1 else reply

    assert _round(simulation, stumble, Patience(3600)) == ([0, 1, 2], [])


def test_a_site_that_goes_away_in_the_middle_has_not_failed(simulation):
    def leave(reply, message):
        leaving.append(3)
        return Message(Error(1, "gone"), reply_to=message)

    leaving = []
    get = LoopbackGrid.get_node_ids
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            LoopbackGrid,
            "get_node_ids",
            lambda grid: [node for node in get(grid) if node not in leaving],
        )
        assert _round(simulation, leave, Patience(3600)) == ([0, 1], [])
    assert len(leaving) == 1


def test_an_oversized_answer_is_dropped(simulation):
    def grow(reply, message):
        update = decode_update(reply.content)
        giant = {**update.weights, "giant": torch.zeros(1_000_000)}
        return Message(encode_update(replace(update, weights=giant)), reply_to=message)

    answered, (failed,) = _round(simulation, grow)
    assert answered == [0, 1] and failed.startswith("2: FS2105 the answer holds 4,0")


def test_an_answer_to_another_round_is_dropped(simulation):
    def stale(reply, message):
        update = replace(decode_update(reply.content), round=17)
        return Message(encode_update(update), reply_to=message)

    answered, failed = _round(simulation, stale)
    assert (answered, failed) == ([0, 1], ["2: FS2106 the answer is to another task"])


def test_a_nan_reply_is_dropped_by_the_gate_and_the_run_goes_on(simulation):
    def poison(reply, message):
        update = decode_update(reply.content)
        bad = {k: v * float("nan") for k, v in update.weights.items()}
        bad = {k: v.to(update.weights[k].dtype) for k, v in bad.items()}
        return Message(encode_update(replace(update, weights=bad)), reply_to=message)

    with dealt(simulation) as app:
        grid = Unruly(app, 3, poison)
        roster = Roster(grid, simulation)
        roster.wait_for(3, 10)
        *_, last = run_on_grid(grid, simulation, Judge(), roster)
    assert [each.client for each in last.record.dropped] == [2]
    assert all(v.isfinite().all() for v in last.weights.values())


def test_a_round_below_its_quorum_stops_the_run_with_a_remedy(simulation):
    strict = Patience(deadline=0.2, quorum=1.0, attempts=2)
    with pytest.raises(
        ProtocolError, match=r"FS2201 round 1: 2 of 3 sites .*start .* again"
    ):
        _round(simulation, lambda reply, message: None, strict)


def test_a_lost_answer_leaves_no_trace_in_the_memory_of_its_site(simulation):
    """Site 2 trains in round 1, its answer is lost; then it is as if it had not."""
    method = simulation.method(simulation.experiment.stages[1])
    lose = {"on": True}

    def maybe(reply, message):
        return None if lose["on"] else reply

    weights = simulation.initial_weights()
    with dealt(simulation) as app:
        grid = Unruly(app, 3, maybe)
        roster = Roster(grid, simulation)
        roster.wait_for(3, 10)
        engine = FlowerEngine(grid, roster, method, 1, _IMPATIENT)
        first = method.init(weights, engine.clients(), 1)
        engine.run(method.plan(first))
        lose["on"] = False
        second = replace(first, round=1)
        there = engine.run(method.plan(second))
    local = InProcess(method, simulation.federation.clients)
    local.run([task for task in method.plan(first) if task.client != 2])
    here = local.run(method.plan(second))
    assert [digest(u.weights) for u in here] == [digest(u.weights) for u in there]


def test_a_resumed_coordinator_repeats_a_round_with_the_same_bits(simulation):
    """The sites are a round ahead of the coordinator after it was killed."""
    method = simulation.method(simulation.experiment.stages[1])
    weights = simulation.initial_weights()
    with dealt(simulation) as app:
        grid = LoopbackGrid(app, 3)
        roster = Roster(grid, simulation)
        roster.wait_for(3, 10)
        engine = FlowerEngine(grid, roster, method, 1)
        state = method.init(weights, engine.clients(), 1)
        state = method.aggregate(state, engine.run(method.plan(state)))
        kept = {id: engine.memory(id) for id in range(3)}
        once = engine.run(method.plan(state))
        again = FlowerEngine(grid, roster, method, 1)
        again.restore(kept)
        twice = again.run(method.plan(state))
    assert [digest(u.weights) for u in once] == [digest(u.weights) for u in twice]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", _PARITY)
def test_the_ray_simulation_gives_the_same_bits(method):
    from fedsemi.deployment.one_machine.simulate import run_on_ray

    simulation = tiny(method)
    here = [digest(step.weights) for step in run_simulation(simulation)]
    there = run_on_ray(
        simulation, lambda steps: [digest(step.weights) for step in steps]
    )
    assert here == there


def test_resnet18_with_eleven_million_parameters_passes():
    from fedsemi.deployment.codec import Order, decode_order, encode_order
    from fedsemi.messages import Task
    from fedsemi.models import ModelSpec

    weights = ModelSpec("resnet18-cifar", 10).build(0).state_dict()
    assert sum(value.numel() for value in weights.values()) > 11_000_000
    found = decode_order(encode_order(Order(Task(0, 0, weights), 0)))
    assert digest(found.task.weights) == digest(weights)
