"""FedAvg with nothing around it: the least that a round of many clients can take.

It has the settings that make fedsemi fast (channels last, freed memory is kept, one
thread in each of several processes), one network in each process that all its clients
use, and sums in place of answers. Nothing is checked, kept or written.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from functools import reduce
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from benchmarks.common import make_clients
from fedsemi.data.client import Client
from fedsemi.engines.allocator import keep_freed_memory
from fedsemi.models import Classifier
from fedsemi.objectives.workbench import Setup

Arrays = dict[str, Any]


class BareLoop:
    """FedAvg on clean views in several processes; a call runs one round."""

    def __init__(self, setup: Setup, count: int, images: int, processes: int) -> None:
        context = multiprocessing.get_context("forkserver")
        start = setup.model.build(0).state_dict()
        self._weights: Arrays = {key: value.numpy() for key, value in start.items()}
        self._taken = context.Value("i", 0)
        self._pipes: list[Connection] = []
        self._processes: list[Any] = []
        for _ in range(processes):
            ours, theirs = context.Pipe()
            arguments = (theirs, setup, count, images, self._taken)
            process = context.Process(target=_serve, args=arguments, daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)
        for pipe in self._pipes:
            pipe.recv()  # it has its images

    @property
    def pids(self) -> list[int]:
        """The processes that learn."""
        return [process.pid for process in self._processes]

    def __call__(self) -> None:
        """Run a round."""
        self._taken.value = 0
        for pipe in self._pipes:
            pipe.send(self._weights)
        sums: list[Arrays] = [pipe.recv() for pipe in self._pipes]
        for key in self._weights:
            total = reduce(np.add, [each[key] for each in sums])
            self._weights[key] = np.asarray(total)  # a sum of scalars is no array

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.terminate()
            process.join()


def _serve(pipe: Connection, setup: Setup, count: int, images: int, taken: Any) -> None:
    torch.set_num_threads(1)
    keep_freed_memory()
    clients = make_clients(count, images, count)
    student = setup.load(setup.model.build(0).state_dict()).train()
    pipe.send("ready")
    while True:
        weights = {key: torch.from_numpy(v) for key, v in pipe.recv().items()}
        pipe.send(_sums(setup, student, clients, weights, taken))


def _sums(
    setup: Setup,
    student: Classifier,
    clients: Sequence[Client],
    weights: dict[str, torch.Tensor],
    taken: Any,
) -> Arrays:
    sums = {key: torch.zeros_like(value) for key, value in weights.items()}
    state = student.state_dict()
    while (number := _next(taken)) < len(clients):
        for key, value in state.items():
            value.copy_(weights[key])
        _learn(setup, student, clients[number])
        for key, value in state.items():
            if value.is_floating_point():
                sums[key].add_(value, alpha=1 / len(clients))
    return {key: value.numpy() for key, value in sums.items()}


def _next(taken: Any) -> int:
    with taken.get_lock():
        taken.value += 1
        return int(taken.value) - 1


def _learn(setup: Setup, student: Classifier, client: Client) -> None:
    local = setup.local
    optimizer = torch.optim.SGD(
        student.parameters(),
        lr=local.lr_labeled,
        momentum=local.momentum,
        weight_decay=local.weight_decay,
    )
    for index in torch.randperm(client.num_labeled).split(local.batch_size):
        images = setup.views.clean(client.labeled_images[index])
        loss = F.cross_entropy(student(images).logits, client.labels[index])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
