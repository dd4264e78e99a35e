"""The loop under drop-outs, skipped rounds and empty pseudo-labels."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

from fedsemi.client.findings import held_out_accuracy
from fedsemi.config.experiment import make_experiment
from fedsemi.contributions import by_supervision
from fedsemi.data.client import Client
from fedsemi.engine import Engine
from fedsemi.errors import ProtocolError
from fedsemi.messages import ClientInfo, Findings, Memory, Task, Update
from fedsemi.method import Method
from fedsemi.objectives.calibration import EDGES
from fedsemi.runs.state_codec import decode, encode
from fedsemi.server.gate import Gate
from fedsemi.server.guard import Guard
from fedsemi.server.guard_state import Evidence
from fedsemi.server.rounds import Round, run
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation
from fedsemi.state import ServerState

GUARDED = Guard(enabled=True)
CLIENTS = (ClientInfo(0, 10, 0), *(ClientInfo(id, 0, 20) for id in range(1, 6)))


class Toy(Method[ServerState]):
    """A method on a model of fifty numbers: everybody answers its id and some noise."""

    def train(
        self, task: Task, client: Client | None, memory: Memory
    ) -> tuple[Update, Memory]:
        make = torch.Generator().manual_seed(task.seed)
        step = 1 + 0.1 * torch.randn(50, generator=make)
        info = CLIENTS[task.client]
        update = Update(
            task.client,
            task.round,
            {"x": task.weights["x"] + step},
            info.num_labeled,
            info.num_unlabeled,
            info.num_unlabeled // 2,
        )
        return update, memory

    def aggregate(self, state: ServerState, updates: Sequence[Update]) -> ServerState:
        shares = by_supervision(updates)
        return state.advanced(state.mixed(updates, shares), updates, shares)


class Flaky(Engine):
    """An engine that loses or changes replies as a function says."""

    def __init__(self, spoil: Callable[[Update], Update | None]) -> None:
        self._spoil = spoil

    def absent(self, round):
        return {}

    def clients(self) -> Sequence[ClientInfo]:
        return CLIENTS

    def run(self, tasks: Sequence[Task]) -> Sequence[Update]:
        replies = [self._spoil(Toy().train(task, None, {})[0]) for task in tasks]
        return [reply for reply in replies if reply is not None]

    def memory(self, client: int) -> Memory:
        return {}

    def restore(self, memories: Mapping[int, Memory]) -> None:
        pass


def rounds_of(
    spoil: Callable[[Update], Update | None],
    rounds: int = 8,
    guard: Guard | None = None,
) -> list[Round[ServerState]]:
    state = Toy().init({"x": torch.zeros(50)}, CLIENTS)
    evidence = Evidence(held_out=partial(held_out_accuracy, num_classes=1))
    gate = Gate(guard or Guard(), evidence=evidence)
    return list(run(Toy(), Flaky(spoil), state, rounds, gate))


def test_no_schedule_of_drop_outs_hangs_or_spoils_a_run(promise: Any) -> None:
    stopped = skipped = 0
    for seed in range(200):
        dice, loss = random.Random(seed), seed / 199
        try:
            done = rounds_of(lambda u, d=dice, p=loss: None if d.random() < p else u)
        except ProtocolError as error:
            assert error.exit_code == 76 and error.code == "FS2201"
            stopped += 1
            continue
        skipped += sum(each.skipped for each in done)
        for each in done:
            assert each.state.weights["x"].isfinite().all()
            if not each.skipped:
                assert sum(each.state.contributions.values()) == pytest.approx(1)
    promise("BC-5 schedules of drop-outs, a toy method", 200, 0)
    assert stopped and skipped


def test_a_round_without_labels_leaves_the_model_as_it_was() -> None:
    lost = {1, 2, 3}
    done = rounds_of(lambda u: None if u.client == 0 and u.round in lost else u, 6)
    assert [each.skipped for each in done] == [False, True, True, True, False, False]
    assert all(
        torch.equal(done[i].state.weights["x"], done[0].state.weights["x"])
        for i in lost
    )
    assert done[1].notices[0].code == "FS2201" and done[1].state.contributions == {}


def test_a_client_that_comes_later_is_asked_from_then_on() -> None:
    class Growing(Flaky):
        def clients(self) -> Sequence[ClientInfo]:
            return CLIENTS if joined else CLIENTS[:3]

    joined = False
    state = Toy().init({"x": torch.zeros(50)}, CLIENTS[:3])
    asked = []
    for done in run(Toy(), Growing(lambda update: update), state, 4):
        asked.append(len(done.updates))
        joined = done.state.round == 2
    assert asked == [3, 3, 6, 6]
    assert done.state.clients == CLIENTS


def test_a_fourth_skip_in_a_row_ends_the_run_with_exit_code_76() -> None:
    with pytest.raises(ProtocolError, match="4 rounds in a row") as caught:
        rounds_of(lambda u: None if u.client == 0 else u)
    assert caught.value.exit_code == 76


def test_a_quorum_of_unlabeled_clients_can_be_asked_for() -> None:
    def lose(update: Update) -> Update | None:
        return None if update.round == 0 and update.client in (1, 2, 3) else update

    assert not rounds_of(lose, 2)[0].skipped
    assert rounds_of(lose, 2, Guard(min_unlabeled=3))[0].skipped


def test_one_bad_client_costs_its_reply_and_then_its_seat() -> None:
    def spoil(update: Update) -> Update:
        bad = {"x": update.weights["x"] * float("nan")}
        return replace(update, weights=bad) if update.client == 3 else update

    done = rounds_of(spoil, 6)
    assert [(len(each.updates), len(each.dropped)) for each in done] == [
        (5, 1),
        (5, 1),
        (5, 1),
        (5, 0),
        (5, 0),
        (5, 0),
    ]
    assert done[2].state.gate.quarantine == ((3, 23),)


@pytest.mark.parametrize("kind", ["unchanged", "noise"])
def test_a_free_rider_is_noted_after_five_rounds_and_keeps_its_share(kind: str) -> None:
    def ride(update: Update) -> Update:
        if update.client != 4:
            return update
        step = torch.zeros(50)
        if kind == "noise":  # as long as a real step, and orthogonal to it
            step = torch.tensor([1.0, -1.0]).repeat(25)
        # The others move every number by about one per round.
        before = update.weights["x"] - honest_step(update)
        return replace(update, weights={"x": before + step})

    done = rounds_of(ride, 6)
    flagged = [{n.client for n in each.notices if n.code == "FS2110"} for each in done]
    assert flagged == [set(), set(), set(), set(), {4}, {4}]
    assert done[-1].state.contributions[4] == pytest.approx(0.1)


def judged(update: Update, right: float) -> Update:
    """Let the labeled client report an accuracy on 1,000 held-out images."""
    none = (0.0,) * (len(EDGES) - 1)
    bins = (1000.0, *none), (right, *none), (0.0, *none)
    found = Findings((0.0,), (1000.0,), (right,), *bins)
    return replace(update, findings=found) if update.client == 0 else update


def test_a_model_that_labeled_clients_find_worse_is_left_for_the_best_one() -> None:
    # The models that go out in rounds 0 to 4 have these held-out accuracies.
    right = [700.0, 800.0, 790.0, 600.0, 795.0]
    done = rounds_of(lambda u: judged(u, right[u.round]), 5, GUARDED)
    out = [torch.zeros(50), *(each.state.weights["x"] for each in done)]
    assert [[n.code for n in each.notices] for each in done] == [
        [],
        [],
        [],
        ["FS2141"],
        ["FS2142"],
    ]
    assert torch.equal(out[4], out[1])  # round 3 ends with what was sent in round 1
    assert done[3].state.contributions == {} and not done[3].skipped
    # Labeled clients go on with whole steps, the others with 0.625 of theirs.
    assert done[4].state.contributions[0] == pytest.approx(0.5)
    assert done[4].state.contributions[1] == pytest.approx(0.1 * 0.625)
    assert sum(done[4].state.contributions.values()) == pytest.approx(0.8125)


def test_without_the_guard_no_model_is_left() -> None:
    done = rounds_of(lambda u: judged(u, 900 - 200 * u.round), 4, Guard(enabled=False))
    free = rounds_of(lambda u: u, 4, Guard(enabled=False))
    for one, other in zip(done, free, strict=True):
        assert torch.equal(one.state.weights["x"], other.state.weights["x"])
        assert not one.notices and one.state.good is None


def test_what_the_guard_remembers_survives_a_checkpoint() -> None:
    *_, last = rounds_of(lambda u: judged(u, 700.0 + u.round), 3, GUARDED)
    tensors: dict[str, torch.Tensor] = {}
    tree = json.loads(json.dumps(encode(last.state, tensors)))
    again = decode(tree, tensors, like=last.state)
    assert again.gate == last.state.gate and again.gate.guard.best == 0.702
    assert last.state.good is not None and again.good is not None
    assert torch.equal(again.good.weights["x"], last.state.good.weights["x"])


@pytest.mark.parametrize("factor", [1e4, -1e4, 1e36])
def test_of_three_sites_one_cannot_carry_the_model_away(factor: float) -> None:
    def spoil(update: Update) -> Update | None:
        if update.client > 2:
            return None
        far = {"x": update.weights["x"] * factor}
        return replace(update, weights=far) if update.client == 2 else update

    done = rounds_of(spoil, 8, GUARDED)
    # Honest steps have a length of about 7.1, so that 1.25 medians are about 8.9.
    for before, after in itertools.pairwise(done):
        step = after.state.weights["x"] - before.state.weights["x"]
        assert step.norm() < 0.75 * 7.3 + 0.25 * 9.2
        assert [(n.client, n.code) for n in after.notices] == [(2, "FS2107")]


def honest_step(update: Update) -> torch.Tensor:
    state = replace(Toy().init({"x": torch.zeros(50)}, CLIENTS), round=update.round)
    (task,) = [t for t in Toy().plan(state) if t.client == update.client]
    return Toy().train(task, None, {})[0].weights["x"]


def test_a_run_at_cutoff_one_learns_from_labels_alone(promise: Any) -> None:
    # Untrained networks are never sure: no client has a pseudo-label to offer.
    content = {
        "data": {"name": "synthetic", "train_limit": 60, "test_limit": 20},
        "model": {"name": "resnet8", "width": 2},
        "partition": {"num_clients": 3, "min_size": 5},
        "evaluation": {"every": 20},
        "stages": [
            {"method": "semianagg", "rounds": 20, "learner": {"cutoff": 1.0}},
        ],
    }
    steps = list(run_simulation(build(make_experiment(content))))
    assert len(steps) == 20
    for step in steps:
        assert [n.code for n in step.record.notices] == ["FS2202"]
        assert {c.contribution for c in step.record.clients.values()} == {0.0, 1.0}
        assert all(v.isfinite().all() for v in step.weights.values())
    promise("BC-4 rounds in which nobody is confident, labels alone", 20, 0)
