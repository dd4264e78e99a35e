"""Local training: the one loop in which a client learns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from fedsemi.client.networks import networks
from fedsemi.data.client import Batch, Client, batches
from fedsemi.messages import Memory, Task, Update, Weights
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective
from fedsemi.objectives.workbench import LocalTraining, Parts, Setup, Workbench
from fedsemi.seeds import Streams
from fedsemi.weights import weights_of

ObjectiveMaker = Callable[[Workbench], Objective]
Between = Callable[[Iterator[float], Classifier], Iterator[float]]
"""Passes the losses of the epochs on, and may change the student after each."""
Tuning = Callable[[Classifier, torch.optim.SGD], None]
"""Gives parts of the network learning rates of their own."""


def answer(
    task: Task,
    client: Client,
    memory: Memory,
    setup: Setup,
    make: ObjectiveMaker,
    parts: Parts | None = None,
    between: Between | None = None,
    tune: Tuning | None = None,
) -> tuple[Update, Memory]:
    """Carry out a task in the usual way: learn for E epochs from the global model.

    Returns the update, which is all that leaves the client, and its new memory.
    """
    bench = Workbench(client, setup, Streams(task.seed))
    student, teacher = networks(setup, task.weights, parts)
    objective = recall(make(bench), memory).to(setup.device)
    optimizer = sgd(student, client, setup.local, memory)
    if tune is not None:
        tune(student, optimizer)
    epochs = learn(bench, student, teacher, objective, optimizer)
    losses = list(between(epochs, student) if between else epochs)
    statistics: Weights = {k: v.cpu() for k, v in objective.statistics().items()}
    if setup.statistics_noise is not None:
        high = float(1 + setup.model.signed_features)
        statistics = setup.statistics_noise.added(statistics, high, task)
    update = Update(
        client=task.client,
        round=task.round,
        weights=weights_of(student),
        num_labeled=client.num_labeled,
        num_unlabeled=client.num_unlabeled,
        num_pseudo=objective.num_pseudo,
        statistics=statistics,
        metrics={"loss": losses[-1], **objective.metrics()},
        group=task.group,
    )
    remembered = {k: v.cpu().clone() for k, v in objective.state_dict().items()}
    if setup.local.keep_momentum:
        remembered |= momentum_of(student, optimizer)
    return update, remembered


def learn(
    bench: Workbench,
    student: Classifier,
    teacher: Classifier,
    objective: Objective,
    optimizer: torch.optim.Optimizer,
) -> Iterator[float]:
    """Train for E epochs; yield the mean loss after each, so that callers may act."""
    local = bench.setup.local
    for _ in range(local.epochs):
        objective.start_epoch(teacher)
        total, steps = torch.zeros((), device=bench.setup.device), 0
        student.train()
        for batch in batches(bench.client, local.batch_size, bench.streams["shuffle"]):
            loss = objective(student, batch)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            _clip(student, batch, local)
            optimizer.step()
            objective.after_step(student)
            total += loss.detach()
            steps += 1
        yield float(total) / max(steps, 1)


def recall(objective: Objective, memory: Memory) -> Objective:
    """Give an objective its memory back, or let it prepare on the first visit."""
    names = objective.state_dict().keys()
    if names <= memory.keys():
        objective.load_state_dict({name: memory[name] for name in names})
    else:
        objective.prepare()
    return objective


def sgd(
    student: Classifier, client: Client, local: LocalTraining, memory: Memory
) -> torch.optim.SGD:
    """Make the optimizer, with the momentum that the client kept."""
    groups: list[dict[str, Any]] = [
        {"params": list(part.parameters()), "weight_decay": decay}
        for part in student.children()
        # A lone linear layer is a head, and heads have no weight decay.
        for decay in [0.0 if isinstance(part, nn.Linear) else local.weight_decay]
    ]
    lr = local.lr_labeled if client.num_labeled else local.lr_unlabeled
    ahead = local.nesterov and local.momentum > 0  # without it there is no way ahead
    optimizer = torch.optim.SGD(groups, lr=lr, momentum=local.momentum, nesterov=ahead)
    for name, parameter in student.named_parameters():
        if (kept := memory.get(f"momentum.{name}")) is not None:
            buffer = torch.empty_like(parameter).copy_(kept)
            optimizer.state[parameter] = {"momentum_buffer": buffer}
    return optimizer


def momentum_of(
    student: nn.Module, optimizer: torch.optim.Optimizer
) -> dict[str, Tensor]:
    """Read the momentum out of an optimizer, by parameter name."""
    return {
        f"momentum.{name}": buffer.cpu().clone(memory_format=torch.contiguous_format)
        for name, parameter in student.named_parameters()
        if (buffer := optimizer.state[parameter].get("momentum_buffer")) is not None
    }


def _clip(student: Classifier, batch: Batch, local: LocalTraining) -> None:
    if local.clip == "all":
        nn.utils.clip_grad_norm_(student.parameters(), local.clip_norm)
    elif local.clip == "unlabeled-encoder" and len(batch.unlabeled):
        nn.utils.clip_grad_norm_(student.encoder.parameters(), local.clip_norm)
