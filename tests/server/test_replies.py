"""No malformed reply reaches a method, none ends a run, no good one is lost."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import strategies as st
from torch import Tensor

from fedsemi.contributions import by_diversity
from fedsemi.flat import Flat
from fedsemi.messages import CLASS_COUNT, DIVERSITY, ClientInfo, Update
from fedsemi.method import Statistic
from fedsemi.server.gate import Gate
from fedsemi.server.guard import Guard
from fedsemi.server.guard_state import Evidence
from fedsemi.server.replies import step_length
from fedsemi.state import GateState

from .honest_replies import (
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

NAN, INF = float("nan"), float("inf")


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
    "diversity without pseudo-labels": ("FS2104", lambda u: replace(u, num_pseudo=0)),
    "more classes than pseudo-labels": ("FS2104", lambda u: replace(u, num_pseudo=2)),
    "no statistic": ("FS2101", lambda u: replace(u, statistics={})),
    "statistics of no kind": ("FS2105", lambda u: replace(u, statistics=None)),
    "unknown statistic": (
        "FS2101",
        lambda u: replace(u, statistics={**u.statistics, "x": torch.ones(3)}),
    ),
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


@pytest.mark.parametrize("name", MUTATORS)
def test_a_reply_in_one_block_is_refused_for_the_same_reason(name: str) -> None:
    update = MUTATORS[name][1](REPLIES[1])
    try:
        in_one_block = replace(update, weights=Flat.of(update.weights))
    except (AttributeError, KeyError, RuntimeError, TypeError):
        pytest.skip("cannot be laid out as one block")
    told, also = (check([each]).dropped for each in (update, in_one_block))
    assert [str(each) for each in told] == [str(each) for each in also]


def test_the_length_of_a_step_is_that_of_its_entries() -> None:
    update, task = REPLIES[1], TASKS[1]
    entries = [
        float(torch.linalg.vector_norm(update.weights[key] - old, dtype=torch.double))
        for key, old in task.weights.items()
        if old.is_floating_point()
    ]
    expected = math.sqrt(sum(each**2 for each in entries))
    assert step_length(update.weights, task.weights) == expected
    assert step_length(Flat.of(update.weights), Flat.of(task.weights)) == expected


def test_what_a_reply_calls_its_entries_is_not_printed_raw() -> None:
    name = "x\nsite 9 joined\x1b[2J" + "y" * 10**6
    spoiled = replace(REPLIES[3], weights={**REPLIES[3].weights, name: torch.ones(1)})
    (dropped,) = check([*REPLIES[:3], spoiled, *REPLIES[4:]]).dropped
    assert "'x\\nsite 9 joined\\x1b[2Jyy" in dropped.reason
    assert dropped.reason.isprintable() and len(dropped.reason) <= 300


@pytest.mark.parametrize("claim", [torch.tensor(1.0), torch.ones(0), torch.ones(3)])
def test_a_diversity_that_the_method_does_not_read_is_refused(claim: Tensor) -> None:
    """The guard, which is on for every method, would trip over its shape."""
    plain = [replace(update, statistics={}) for update in REPLIES]
    plain[3] = replace(plain[3], statistics={DIVERSITY: claim})
    found = replace(GATE, statistics={}).check(TASKS, plain, CLIENTS, GateState())
    assert [(d.client, d.code) for d in found.dropped] == [(3, "FS2101")]


def test_a_site_without_images_that_sends_no_statistic_ends_nothing() -> None:
    def shares(updates: Sequence[Update]) -> Tensor:
        return by_diversity(updates, 0.5)

    clients = [*CLIENTS[:3], ClientInfo(3, 0, 0), *CLIENTS[4:]]
    empty = replace(REPLIES[3], num_unlabeled=0, num_pseudo=0, statistics={})
    gate = replace(GATE, evidence=Evidence(shares))
    replies = [*REPLIES[:3], empty, *REPLIES[4:]]
    found = gate.check(TASKS, replies, clients, GateState())
    assert len(found.updates) == 7 and not found.dropped


def test_a_client_without_unlabeled_data_need_not_send_the_statistic() -> None:
    found = check([replace(REPLIES[0], statistics={}), *REPLIES[1:]])
    assert not found.dropped


def harms(client: int, name: str) -> bool:
    """A client with labels owes no diversity, and may show it in any class."""
    return client != 0 or name not in (
        "no statistic",
        "diversity without pseudo-labels",
        "more classes than pseudo-labels",
    )


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
    gate = Gate(Guard(enabled=True), {CLASS_COUNT: Statistic(3, counts=True)})
    counts = [torch.tensor([20.0, 10.0, 0.0]), torch.tensor([20.0, 10.5, 0.0])]
    replies = [
        replace(REPLIES[id], statistics={CLASS_COUNT: count})
        for id, count in enumerate(counts, start=1)
    ]
    found = gate.check(TASKS[1:3], replies, CLIENTS, GateState())
    assert [update.client for update in found.updates] == [1]
    assert [(each.client, each.code) for each in found.dropped] == [(2, "FS2104")]
