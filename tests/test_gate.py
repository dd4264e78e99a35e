"""The gate: no bad reply reaches a method, none ends a run, no good one is lost."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import strategies as st

from fedsemi.contributions import by_diversity
from fedsemi.gate import Check, Gate, GateState
from fedsemi.guard import Guard
from fedsemi.messages import CLASS_COUNT, DIVERSITY, ClientInfo, Task, Update, Weights
from fedsemi.replies import Statistic
from fedsemi.weights import digest, weighted_mean

NAN, INF = float("nan"), float("inf")
CLIENTS = [ClientInfo(0, 20, 0)] + [ClientInfo(id, 0, 30) for id in range(1, 7)]
GATE = Gate(Guard(), {DIVERSITY: Statistic(3, 0, 1)}, pseudo_labels=True)


def model(seed: int = 0) -> dict[str, torch.Tensor]:
    make = torch.Generator().manual_seed(seed)
    return {
        "encoder.weight": torch.randn(4, 3, generator=make),
        "encoder.running_var": torch.rand(4, generator=make) + 0.5,
        "encoder.num_batches_tracked": torch.tensor(seed),
        "head.weight": torch.randn(3, 4, generator=make),
    }


BASE = model()
TASKS = [Task(client.id, 5, BASE) for client in CLIENTS]


def honest(task: Task) -> Update:
    make = torch.Generator().manual_seed(100 + task.client)
    weights = {
        key: value + 0.01 * torch.randn(value.shape, generator=make)
        if value.is_floating_point()
        else value + 3
        for key, value in task.weights.items()
    }
    info = CLIENTS[task.client]
    diversity = 0.2 + 0.3 * torch.rand(3, generator=make)
    return Update(
        task.client,
        task.round,
        weights,
        info.num_labeled,
        info.num_unlabeled,
        min(info.num_unlabeled, 12),
        {DIVERSITY: diversity},
        {"loss": 0.5},
    )


REPLIES = [honest(task) for task in TASKS]


def check(replies: Sequence[Update], state: GateState | None = None) -> Check:
    return GATE.check(TASKS, replies, CLIENTS, state or GateState())


def mean_of(passed: Sequence[Update]) -> Weights:
    return weighted_mean(BASE, [u.weights for u in passed], by_diversity(passed))


def entry(key: str, change: Callable[[torch.Tensor], Any]) -> Callable[[Update], Any]:
    return lambda u: replace(u, weights={**u.weights, key: change(u.weights[key])})


def filled(value: float) -> Callable[[torch.Tensor], torch.Tensor]:
    def change(tensor: torch.Tensor) -> torch.Tensor:
        result = tensor.clone()
        result.view(-1)[0] = value
        return result

    return change


def claim(value: Any) -> Callable[[Update], Update]:
    return lambda u: replace(u, statistics={DIVERSITY: value})


def without(key: str) -> Callable[[Update], Update]:
    return lambda u: replace(
        u, weights={k: v for k, v in u.weights.items() if k != key}
    )


MUTATORS: dict[str, tuple[str, Callable[[Update], Update]]] = {
    "nan weight": ("FS2103", entry("head.weight", filled(NAN))),
    "infinite weight": ("FS2103", entry("encoder.weight", filled(INF))),
    "minus infinity": ("FS2103", entry("head.weight", filled(-INF))),
    "nan statistic of batch norm": (
        "FS2103",
        entry("encoder.running_var", filled(NAN)),
    ),
    "negative variance": ("FS2103", entry("encoder.running_var", filled(-1.0))),
    "overflow of the step": (
        "FS2103",
        entry("head.weight", lambda t: t.sign() * torch.finfo(t.dtype).max * 2),
    ),
    "wrong shape": ("FS2102", entry("head.weight", lambda t: t[:2])),
    "broadcastable shape": ("FS2102", entry("head.weight", lambda t: t[:1, :1])),
    "transposed": ("FS2102", entry("head.weight", lambda t: t.T)),
    "extra dimension": ("FS2102", entry("head.weight", lambda t: t[None])),
    "double": ("FS2102", entry("head.weight", lambda t: t.double())),
    "half": ("FS2102", entry("head.weight", lambda t: t.half())),
    "integers": ("FS2102", entry("head.weight", lambda t: t.long())),
    "complex": ("FS2102", entry("head.weight", lambda t: t.to(torch.complex64))),
    "sparse": ("FS2102", entry("head.weight", lambda t: t.to_sparse())),
    "a meta tensor": ("FS2102", entry("head.weight", lambda t: t.to("meta"))),
    "a list for a tensor": ("FS2102", entry("head.weight", lambda t: t.tolist())),
    "none for a tensor": ("FS2102", entry("head.weight", lambda t: None)),
    "float counter": (
        "FS2102",
        entry("encoder.num_batches_tracked", lambda t: t.float()),
    ),
    "giant counter": (
        "FS2104",
        entry("encoder.num_batches_tracked", lambda t: t + 2**60),
    ),
    "negative counter": ("FS2104", entry("encoder.num_batches_tracked", lambda t: -t)),
    "missing entry": ("FS2101", without("head.weight")),
    "no entries": ("FS2101", lambda u: replace(u, weights={})),
    "no mapping": ("FS2101", lambda u: replace(u, weights=None)),
    "unknown entry": (
        "FS2101",
        lambda u: replace(u, weights={**u.weights, "head.extra": torch.zeros(1)}),
    ),
    "renamed entry": (
        "FS2101",
        lambda u: replace(
            without("head.weight")(u),
            weights={
                **without("head.weight")(u).weights,
                "x": u.weights["head.weight"],
            },
        ),
    ),
    "negative labeled": ("FS2104", lambda u: replace(u, num_labeled=-3)),
    "negative pseudo": ("FS2104", lambda u: replace(u, num_pseudo=-1)),
    "nan count": ("FS2104", lambda u: replace(u, num_unlabeled=NAN)),
    "boolean count": ("FS2104", lambda u: replace(u, num_pseudo=True)),
    "count as text": ("FS2104", lambda u: replace(u, num_pseudo="12")),
    "no statistic": ("FS2101", lambda u: replace(u, statistics={})),
    "statistics of no kind": ("FS2105", lambda u: replace(u, statistics=None)),
    "nan diversity": ("FS2103", claim(torch.tensor([0.1, NAN, 0.2]))),
    "huge diversity": ("FS2103", claim(torch.tensor([0.1, 1e6, 0.2]))),
    "diversity of two": ("FS2103", claim(torch.tensor([0.1, 2.0, 0.2]))),
    "negative diversity": ("FS2103", claim(torch.tensor([0.1, -1.0, 0.2]))),
    "short diversity": ("FS2102", claim(torch.tensor([0.1, 0.2]))),
    "integer diversity": ("FS2102", claim(torch.tensor([0, 1, 0]))),
    "diversity as list": ("FS2102", claim([0.1, 0.2, 0.3])),
    "stale round": ("FS2106", lambda u: replace(u, round=4)),
    "round to come": ("FS2106", lambda u: replace(u, round=6)),
    "round as text": ("FS2106", lambda u: replace(u, round="5")),
    "unknown client": ("FS2106", lambda u: replace(u, client=77)),
    "client of no kind": ("FS2106", lambda u: replace(u, client=[1])),
    "unknown group": ("FS2106", lambda u: replace(u, group=1)),
}


@pytest.mark.parametrize("name", MUTATORS)
def test_malformed_reply_is_dropped_with_its_code(name: str) -> None:
    code, mutate = MUTATORS[name]
    found = check([*REPLIES[:3], mutate(REPLIES[3]), *REPLIES[4:]])
    assert [each.code for each in found.dropped] == [code]
    assert [update.client for update in found.updates] == [0, 1, 2, 4, 5, 6]


def test_a_client_without_unlabeled_data_need_not_send_the_statistic() -> None:
    found = check([replace(REPLIES[0], statistics={}), *REPLIES[1:]])
    assert not found.dropped


def harms(client: int, name: str) -> bool:
    return not (client == 0 and name == "no statistic")


def sift_a_random_mix(mutated: dict[int, str], twice: set[int], seed: int) -> None:
    mutated = {id: name for id, name in mutated.items() if harms(id, name)}
    replies = [
        MUTATORS[mutated[u.client]][1](u) if u.client in mutated else u for u in REPLIES
    ]
    replies += [REPLIES[id] for id in twice]
    random.Random(seed).shuffle(replies)
    found = check(replies)
    good = [u.client for u in REPLIES if u.client not in mutated or u.client in twice]
    assert [update.client for update in found.updates] == good
    assert len(found.dropped) == len(replies) - len(good)
    assert all(v.isfinite().all() for v in mean_of(found.updates).values())
    assert found.quorum == (0 in good)


MIXES = (
    st.dictionaries(st.integers(0, 6), st.sampled_from(sorted(MUTATORS))),
    st.sets(st.integers(0, 6)),
    st.integers(0, 2**16),
)


BC1 = "BC-1 mixes of good and malformed replies"


def test_no_mix_of_replies_ends_a_run_or_slips_through(tried_on: Any) -> None:
    tried_on(BC1, 500, sift_a_random_mix, *MIXES)


@pytest.mark.slow
def test_none_of_ten_thousand_mixes_slips_through(tried_on: Any) -> None:
    tried_on(BC1, 10_000, sift_a_random_mix, *MIXES)


def test_honest_replies_pass_unchanged() -> None:
    found = check(REPLIES)
    assert not found.dropped and not found.notices and found.quorum
    for update, sent in zip(found.updates, REPLIES, strict=True):
        assert update.weights is sent.weights
        assert torch.equal(update.statistics[DIVERSITY], sent.statistics[DIVERSITY])


def test_rounding_below_zero_is_no_lie() -> None:
    found = check([*REPLIES[:6], claim(torch.tensor([-1e-5, 0.2, 1.0]))(REPLIES[6])])
    assert not found.dropped
    assert float(found.updates[6].statistics[DIVERSITY].min()) == 0


def test_inflated_counts_are_cut_to_the_register() -> None:
    liar = replace(REPLIES[4], num_pseudo=10**18, num_labeled=10**18)
    found = check([*REPLIES[:4], liar, *REPLIES[5:]])
    assert (found.updates[4].num_labeled, found.updates[4].num_pseudo) == (0, 30)
    assert [(n.client, n.code) for n in found.notices] == [(4, "FS2104")]


def test_classes_cannot_count_more_samples_than_a_client_has() -> None:
    gate = Gate(Guard(), {CLASS_COUNT: Statistic(3, counts=True)})
    counts = [torch.tensor([20.0, 10.0, 0.0]), torch.tensor([20.0, 10.5, 0.0])]
    replies = [
        replace(REPLIES[id], statistics={CLASS_COUNT: count})
        for id, count in enumerate(counts, start=1)
    ]
    found = gate.check(TASKS[1:3], replies, CLIENTS, GateState())
    assert [update.client for update in found.updates] == [1]
    assert [(each.client, each.code) for each in found.dropped] == [(2, "FS2104")]


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


def test_the_only_labeled_client_is_trusted_with_any_step() -> None:
    far = entry("head.weight", lambda t: t + 100)(REPLIES[0])
    found = check([far, *REPLIES[1:]])
    assert found.updates[0].weights is far.weights and not found.notices


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


def test_without_confident_pseudo_labels_the_round_says_so() -> None:
    found = check([replace(u, num_pseudo=0) for u in REPLIES])
    assert found.quorum and [n.code for n in found.notices] == ["FS2202"]


def test_methods_without_pseudo_labels_miss_none() -> None:
    gate = replace(GATE, pseudo_labels=False)
    replies = [replace(update, num_pseudo=0) for update in REPLIES]
    assert not gate.check(TASKS, replies, CLIENTS, GateState()).notices


def test_a_disabled_guard_takes_replies_as_they_come() -> None:
    gate = Gate(Guard(enabled=False))
    bad = entry("head.weight", filled(NAN))(REPLIES[3])
    found = gate.check(TASKS, [*REPLIES[:3], bad], CLIENTS, GateState())
    assert found.updates[3] is bad and not found.dropped
