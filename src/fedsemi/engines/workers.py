"""The local engine for several cores: clients learn in worker processes.

Each worker computes on one torch thread. Models, client data and client memories pass
through a mailbox in shared memory; the pipe carries names and numbers only.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import torch

from fedsemi.data.client import Client
from fedsemi.engine import Engine
from fedsemi.engines.allocator import keep_freed_memory
from fedsemi.engines.clock import Stopwatch, count
from fedsemi.engines.devices import deal
from fedsemi.engines.in_process import train_client
from fedsemi.engines.mailbox import Mailbox, Stored
from fedsemi.errors import ConfigError, FedSemiError, OutOfMemory
from fedsemi.flat import Flat
from fedsemi.messages import ClientInfo, Memory, Task, Update, Weights
from fedsemi.method import Method
from fedsemi.plugins.handover import packed, script_hidden, unpacked

_PRELOAD = ["fedsemi.engines.workers", "fedsemi.methods", "torch._dynamo"]
"""Imported once and not by every worker; torch's optimizers import the last one."""

_AHEAD = 2
"""So many chains a worker has at hand."""

FEW = 32
"""Up to so many clients the answers of a round are held in memory, not on disk."""


@dataclass(frozen=True)
class _Job:
    """A task whose tensors lie in the mailbox."""

    task: Task
    weights: str
    broadcast: str
    """Empty if there is none."""
    reply: str


class Workers(Engine):
    """Runs tasks in worker processes; the result has the same bits as `InProcess`."""

    def __init__(
        self, method: Method[Any], clients: Sequence[Client], workers: int
    ) -> None:
        self._infos = {client.id: client.info for client in clients}
        self._mailbox = Mailbox.create(in_memory=len(clients) <= FEW)
        for client in clients:
            self._mailbox.put(f"client-{client.id}", _tensors_of(client))
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_PRELOAD)
        self._pipes: list[Connection] = []
        self._processes = []
        handed = packed(method)
        for number in range(min(workers, len(clients))):
            ours, theirs = context.Pipe()
            arguments = (theirs, handed, self._mailbox.folder, number)
            process = context.Process(target=_serve, args=arguments, daemon=True)
            with script_hidden():
                process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def clients(self) -> Sequence[ClientInfo]:
        """List the clients."""
        return list(self._infos.values())

    def run(self, tasks: Sequence[Task]) -> Sequence[Update]:
        """Carry out the tasks, the longest first, one client's in the order given."""
        updates = self.arriving(tasks)
        return sorted(updates, key=lambda update: (update.group, update.client))

    def arriving(self, tasks: Sequence[Task]) -> Iterator[Update]:
        """Carry out the tasks; yield the answers as they come."""
        chains = self._chains(tasks)
        open_: dict[Connection, int] = dict.fromkeys(self._pipes, 0)
        for _ in range(_AHEAD):
            for pipe in self._pipes:
                self._hand_out(pipe, chains, open_)
        while busy := [pipe for pipe, count in open_.items() if count]:
            for ready in wait(busy):
                assert isinstance(ready, Connection)
                updates = self._collect(ready)
                open_[ready] -= 1
                self._hand_out(ready, chains, open_)
                yield from updates

    def _hand_out(
        self, pipe: Connection, chains: deque[list[_Job]], open_: dict[Connection, int]
    ) -> None:
        """Give a worker its next chain, and one to go on with while others wait.

        It need not wait until the last answer was looked at; the last ones are given to
        whoever is free first.
        """
        if chains and (not open_[pipe] or len(chains) > len(self._pipes)):
            pipe.send(chains.popleft())
            open_[pipe] += 1

    def memory(self, client: int) -> Memory:
        """Show what a client remembers."""
        return self._mailbox.get(f"memory-{client}")

    def restore(self, memories: Mapping[int, Memory]) -> None:
        """Give clients their memories back."""
        for client, memory in memories.items():
            self._mailbox.put(f"memory-{client}", memory)

    def close(self, failed: bool = False) -> None:
        """End the workers and remove what they shared."""
        for pipe, process in zip(self._pipes, self._processes, strict=True):
            pipe.close()
            if not failed:
                process.join(timeout=5)
            process.kill()
            process.join()
        self._mailbox.destroy()

    def _chains(self, tasks: Sequence[Task]) -> deque[list[_Job]]:
        """Post the tasks' tensors; group the jobs by client, most samples first."""
        posted: dict[int, str] = {}
        chains: dict[int, list[_Job]] = {}
        for number, task in enumerate(tasks):
            if task.weights and id(task.weights) not in posted:
                name = posted[id(task.weights)] = f"weights-{len(posted)}"
                self._mailbox.put(name, task.weights)
            job = _Job(
                replace(task, weights={}, broadcast={}),
                posted.get(id(task.weights), ""),  # a step of a sum has no model
                f"broadcast-{number}" if task.broadcast else "",
                f"reply-{number}",
            )
            if task.broadcast:
                self._mailbox.put(job.broadcast, task.broadcast)
            chains.setdefault(task.client, []).append(job)
        return deque(sorted(chains.values(), key=self._cost, reverse=True))

    def _cost(self, chain: Sequence[_Job]) -> float:
        info = self._infos[chain[0].task.client]
        # A labeled sample is learned from in two views.
        return len(chain) * (2 * info.num_labeled + info.num_unlabeled)

    def _collect(self, pipe: Connection) -> list[Update]:
        try:
            replies, seconds = pipe.recv()
        except (EOFError, ConnectionError):
            raise self._died(self._pipes.index(pipe)) from None
        count(seconds)
        if isinstance(replies, Exception):
            raise replies
        return [self._opened(update, name) for update, name in replies]

    def _died(self, number: int) -> FedSemiError:
        """Tell a worker that the system killed from one that could not work."""
        process = self._processes[number]
        process.join(timeout=5)
        if process.exitcode is not None and process.exitcode > 0:
            return FedSemiError(
                f"a worker process ended with exit code {process.exitcode}, see the "
                "lines above; was fedsemi changed while it ran?"
            )
        return OutOfMemory(
            "a worker process died, most likely for lack of memory; use fewer "
            "workers, or a smaller batch size in a new run"
        )

    def _opened(self, update: Update, name: str) -> Update:
        weights = self._mailbox.get(name)
        statistics = self._mailbox.get(f"{name}-statistics")
        return replace(
            update,
            # Gate, mean and log read it several times; what is mapped is no copy.
            weights=Flat.held(weights) if len(self._infos) <= FEW else weights,
            # Copied, because a tensor keeps its whole file mapped.
            statistics={key: value.clone() for key, value in statistics.items()},
        )


def _serve(pipe: Connection, handed: bytes, folder: Path, number: int) -> None:
    """Carry out chains of jobs until the engine closes the pipe."""
    torch.set_num_threads(1)
    keep_freed_memory()
    # A collection writes to all objects, and what was shared with the fork server would
    # become this worker's own: 60 MB each. What is frozen is not looked at.
    gc.freeze()
    # A signal to the whole group is the engine's to answer; it closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    mailbox, watch = Mailbox(folder), Stopwatch()
    # The engine is gone, or going: nobody is left to answer.
    with suppress(EOFError, ConnectionError):
        try:
            method: Method[Any] = unpacked(handed)
            deal(_device_of(method), number)
        except Exception as error:
            pipe.recv()
            pipe.send((_not_understood(error), watch.lap()))
            return
        while True:
            chain = pipe.recv()
            try:
                replies = [_carry_out(job, method, mailbox) for job in chain]
            except Exception as error:
                pipe.send((error, watch.lap()))
            else:
                pipe.send((replies, watch.lap()))


def _device_of(method: Method[Any]) -> str:
    """Return the device of a method; one from outside may have no setup."""
    return str(getattr(getattr(method, "setup", None), "device", "cpu"))


def _not_understood(error: Exception) -> FedSemiError:
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return ConfigError(
        f"a worker process cannot load the method ({reason}); put it in a module that "
        "can be imported",
        code="FS4160",
    )


def _carry_out(job: _Job, method: Method[Any], mailbox: Mailbox) -> tuple[Update, str]:
    task = replace(
        job.task,
        weights=_received(*mailbox.identity(job.weights)) if job.weights else {},
        broadcast=dict(mailbox.get(job.broadcast)) if job.broadcast else {},
    )
    client = Client(task.client, **mailbox.get(f"client-{task.client}"))
    memory = dict(mailbox.get(f"memory-{task.client}").items())
    update, remembered = train_client(method, task, client, memory)
    mailbox.put(f"memory-{task.client}", remembered)
    mailbox.put(job.reply, update.weights)
    mailbox.put(f"{job.reply}-statistics", update.statistics)
    return replace(update, weights={}, statistics={}), job.reply


@lru_cache(maxsize=1)
def _received(path: Path, inode: int, changed: int) -> Weights:
    """Return the model of a task, the same object for all tasks that bring it."""
    return Flat.held(Stored(path))


def _tensors_of(client: Client) -> dict[str, torch.Tensor]:
    return {
        "labeled_images": client.labeled_images,
        "labels": client.labels,
        "unlabeled_images": client.unlabeled_images,
    }
