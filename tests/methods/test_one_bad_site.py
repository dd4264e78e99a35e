"""One bad site of three: whatever it sends, every method keeps a finite model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from fedsemi.messages import CLASS_COUNT, DIVERSITY, Task, Update
from fedsemi.methods import METHODS
from fedsemi.server.gate import Gate
from fedsemi.server.guard import Guard
from fedsemi.server.guard_state import Evidence
from fedsemi.server.rounds import one_round

from .test_all_methods import SMALL

ROUNDS = 2
Forge = Callable[[Update, Task], Update]


def times(factor: float) -> Forge:
    def forge(update: Update, task: Task) -> Update:
        weights = {
            key: (value.double() * factor).clamp(-3e38, 3e38).to(value.dtype)
            if value.is_floating_point() and not key.endswith("running_var")
            else value
            for key, value in update.weights.items()
        }
        return replace(update, weights=weights)

    return forge


def boastful(update: Update, task: Task) -> Update:
    """Claim r = 1 everywhere, with no pseudo-label at all."""
    ones = torch.ones_like
    known = {DIVERSITY, CLASS_COUNT} & set(update.statistics)
    claims = {name: ones(update.statistics[name]) for name in known}
    far = times(1e4)(update, task)
    return replace(far, num_pseudo=0, statistics={**update.statistics, **claims})


def shrunk(update: Update, task: Task) -> Update:
    """Set all variances of batch norm to zero."""
    none = {
        key: torch.zeros_like(value)
        for key, value in update.weights.items()
        if key.endswith("running_var")
    }
    return replace(update, weights={**update.weights, **none})


FORGERIES: dict[str, Forge] = {
    "times 10,000": times(1e4),
    "1e38": times(1e38),
    "r = 1 without pseudo-labels": boastful,
    "no variance": shrunk,
}


@pytest.mark.parametrize("name", [n for n in METHODS if not METHODS[n].labels_only])
def test_one_bad_site_of_three_leaves_a_finite_model_near_the_others(
    name: str, tiny_setup: Any, make_client: Any
) -> None:
    method = METHODS[name](tiny_setup, **SMALL.get(name, {}))
    clients = {0: make_client(0, 8), 1: make_client(1, 0, 8), 2: make_client(2, 0, 8)}
    shares = method.contributions if DIVERSITY in method.statistics else None
    gate = Gate(Guard(enabled=True), method.statistics, evidence=Evidence(shares))
    start = tiny_setup.model.build(0).state_dict()
    for forge in FORGERIES.values():
        state = method.init(start, [c.info for c in clients.values()], 7)
        while state.round < ROUNDS:
            asking = one_round(method, state, gate)
            tasks = next(asking)
            while True:
                replies = [method.train(t, clients[t.client], {})[0] for t in tasks]
                forged = [
                    forge(u, t) if u.client == 2 else u
                    for u, t in zip(replies, tasks, strict=True)
                ]
                try:
                    tasks = asking.send(forged)
                except StopIteration as over:
                    state = over.value.state
                    break
        values = torch.cat([value.flatten().float() for value in state.whole.values()])
        assert values.isfinite().all() and float(values.abs().max()) < 1e3
