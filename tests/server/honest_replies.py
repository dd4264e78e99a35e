"""What seven honest clients answer, and ways to spoil it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from fedsemi.contributions import by_diversity
from fedsemi.messages import DIVERSITY, ClientInfo, Task, Update, Weights
from fedsemi.method import Statistic
from fedsemi.server.gate import Check, Gate
from fedsemi.server.guard import Guard
from fedsemi.state import GateState
from fedsemi.weights import weighted_mean

CLIENTS = [ClientInfo(0, 20, 0)] + [ClientInfo(id, 0, 30) for id in range(1, 7)]
GATE = Gate(
    Guard(enabled=True),
    {DIVERSITY: Statistic(3, 0, 1, of_pseudo_labels=True)},
    pseudo_labels=True,
)


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
