"""The gate: outliers are cut, repeat offenders wait, and a round knows its quorum."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
import torch

from fedsemi.messages import DIVERSITY, Failure, Task, Update, Weights
from fedsemi.server.gate import Gate
from fedsemi.server.guard import Guard
from fedsemi.state import GateState, GuardState
from fedsemi.weights import digest

from .honest_replies import (
    BASE,
    CLIENTS,
    GATE,
    REPLIES,
    TASKS,
    check,
    claim,
    entry,
    filled,
    mean_of,
)

NAN = float("nan")


def test_honest_replies_pass_unchanged() -> None:
    found = check(REPLIES)
    assert not found.dropped and not found.notices and found.quorum
    for update, sent in zip(found.updates, REPLIES, strict=True):
        assert update.weights is sent.weights
        assert torch.equal(update.statistics[DIVERSITY], sent.statistics[DIVERSITY])


def test_a_giant_step_is_shortened_to_two_medians() -> None:
    giant = entry("head.weight", lambda t: t + 1e30)(REPLIES[2])
    found = check([*REPLIES[:2], giant, *REPLIES[3:]])
    assert [(n.client, n.code) for n in found.notices] == [(2, "FS2107")]
    steps = [step_length(u) for u in found.updates if u.client]
    honest_steps = torch.tensor([step_length(u) for u in REPLIES if u.client])
    # Two of six steps lie above torch's (lower) median whoever is the giant.
    assert steps[1] <= 2.0001 * float(honest_steps.max())
    assert all(v.isfinite().all() for v in found.updates[2].weights.values())


def step_length(update: Update) -> float:
    return (
        sum(
            float((update.weights[key] - BASE[key]).double().square().sum())
            for key in BASE
            if BASE[key].is_floating_point()
        )
        ** 0.5
    )


def same_bits_in_any_order(permutations: int, promise: Any) -> None:
    replies = [*REPLIES, entry("head.weight", lambda t: t + 0.3)(REPLIES[5])]
    digests = set()
    for seed in range(permutations):
        random.Random(seed).shuffle(replies)
        digests.add(digest(mean_of(check(replies).updates)))
    promise("BC-7 orders of arrival, one digest", permutations, len(digests) - 1)
    assert len(digests) == 1


def test_order_of_arrival_changes_no_bit(promise: Any) -> None:
    same_bits_in_any_order(200, promise)


@pytest.mark.slow
def test_none_of_a_thousand_orders_changes_a_bit(promise: Any) -> None:
    same_bits_in_any_order(1000, promise)


def test_three_drops_bring_twenty_rounds_of_quarantine() -> None:
    state, bad = GateState(), entry("head.weight", filled(NAN))
    for round in (5, 9, 24):
        tasks = [replace(task, round=round) for task in TASKS]
        assert len(GATE.admitted(tasks, state)) == 7
        replies = [replace(u, round=round) for u in REPLIES]
        replies[3] = bad(replies[3])
        found = GATE.check(tasks, replies, CLIENTS, state)
        state = found.state
    assert [n.code for n in found.notices] == ["FS2112"]
    asked = {
        round: 3
        in {t.client for t in GATE.admitted([replace(TASKS[3], round=round)], state)}
        for round in (25, 44, 45)
    }
    assert asked == {25: False, 44: False, 45: True}


def test_three_failures_bring_the_same_quarantine_as_three_drops() -> None:
    state = GateState()
    for round in (5, 9, 24):
        tasks = [replace(task, round=round) for task in TASKS]
        replies = [replace(u, round=round) for u in REPLIES if u.client != 3]
        failure = Failure(3, "FS5031", "broke its task off")
        found = GATE.check(tasks, [*replies, failure], CLIENTS, state)
        assert [str(each) for each in found.dropped] == [
            f"FS5031 round {round + 1}: client 3 broke its task off"
        ]
        assert len(found.updates) == 6 and found.quorum
        state = found.state
    assert [n.code for n in found.notices] == ["FS2112"]
    assert state.quarantine == ((3, 45),)


def test_a_disabled_guard_does_without_those_that_failed() -> None:
    found = replace(GATE, guard=Guard(enabled=False)).check(
        TASKS, [*REPLIES[1:], Failure(0, "FS5031", "")], CLIENTS, GateState()
    )
    assert [update.client for update in found.updates] == [1, 2, 3, 4, 5, 6]


def test_drops_far_apart_bring_no_quarantine() -> None:
    state, bad = GateState(), entry("head.weight", filled(NAN))
    for round in (5, 9, 25):  # round 5 is out of the window of 20 by round 25
        tasks = [replace(task, round=round) for task in TASKS]
        replies = [
            replace(bad(u) if u.client == 3 else u, round=round) for u in REPLIES
        ]
        state = GATE.check(tasks, replies, CLIENTS, state).state
    assert not state.quarantine


def test_a_quarantined_labeled_client_still_counts_as_missing() -> None:
    state = GateState(quarantine=((0, 99),))
    found = check(REPLIES[1:], state)
    assert not found.quorum
    assert [n.code for n in found.notices] == ["FS2201"]


def unsure(update: Update) -> Update:
    """Answer without a pseudo-label, and so without any diversity."""
    return claim(torch.zeros(3))(replace(update, num_pseudo=0))


def test_without_confident_pseudo_labels_the_round_says_so() -> None:
    found = check([unsure(u) for u in REPLIES])
    assert found.quorum and [n.code for n in found.notices] == ["FS2202"]


def test_methods_without_pseudo_labels_miss_none() -> None:
    gate = replace(GATE, pseudo_labels=False)
    replies = [unsure(update) for update in REPLIES]
    assert not gate.check(TASKS, replies, CLIENTS, GateState()).notices


def test_the_gate_refuses_garbage_whether_or_not_the_guard_is_on() -> None:
    gate = replace(GATE, guard=Guard(enabled=False))
    bad = entry("head.weight", filled(NAN))(REPLIES[3])
    found = gate.check(TASKS, [*REPLIES[:3], bad], CLIENTS, GateState())
    assert [(each.client, each.code) for each in found.dropped] == [(3, "FS2103")]
    assert found.state.strikes == ((3, 5),)


def test_without_the_guard_what_passes_is_what_came() -> None:
    gate = replace(GATE, guard=Guard(enabled=False))
    far = entry("head.weight", lambda t: t + 1e30)(REPLIES[2])
    replies = [*REPLIES[:2], far, *REPLIES[3:]]
    found = gate.check(TASKS, replies, CLIENTS, GateState())
    assert not found.dropped and not found.notices and not found.kept
    for update, sent in zip(found.updates, replies, strict=True):
        assert update.weights is sent.weights
    assert found.state.guard == GuardState()


def test_where_clients_measure_only_what_is_due_passes_and_nobody_is_idle() -> None:
    def due(task: Task) -> Weights:
        return {"encoder.running_var": task.weights["encoder.running_var"]}

    told = [
        replace(each, weights=due(task), num_pseudo=0, statistics={}, metrics={})
        for task, each in zip(TASKS, REPLIES, strict=True)
    ]
    negative = entry("encoder.running_var", lambda v: v - 9)(told[1])
    replies = [told[0], negative, REPLIES[2], *told[3:]]
    gate = Gate(Guard(enabled=True), pseudo_labels=True, due=due)
    found = gate.check(TASKS, replies, CLIENTS, GateState(idle=((3, 4),)))
    assert not found.learned and len(found.updates) == 5
    codes = {(d.client, d.code) for d in found.dropped}
    assert codes == {(1, "FS2103"), (2, "FS2101")}
    # Nobody moved, nobody has a pseudo-label, and neither is worth a note.
    assert not found.notices and found.state.idle == ((3, 4),)
    assert found.state.guard == GuardState()
    assert gate.check([], [], CLIENTS, GateState()).learned
