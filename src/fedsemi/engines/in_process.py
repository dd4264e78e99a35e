"""The simplest engine: clients learn one after the other in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from fedsemi.data.client import Client
from fedsemi.engine import Engine
from fedsemi.errors import ClientFailed, FedSemiError, OutOfMemory, lacks_memory
from fedsemi.messages import ClientInfo, Memory, Task, Update
from fedsemi.method import Method


class InProcess(Engine):
    """Runs tasks in this process, on one torch thread.

    One thread, because the number of threads changes the bits of a result and is to be
    the same here and in worker processes.
    """

    def __init__(self, method: Method[Any], clients: Sequence[Client]) -> None:
        self._method = method
        self._clients = {client.id: client for client in clients}
        self._memories: dict[int, Memory] = {}

    def clients(self) -> Sequence[ClientInfo]:
        """List the clients."""
        return [client.info for client in self._clients.values()]

    def run(self, tasks: Sequence[Task]) -> Sequence[Update]:
        """Carry out the tasks in the order given."""
        with one_thread():
            updates = [self._train(task) for task in tasks]
        return sorted(updates, key=lambda update: (update.group, update.client))

    def memory(self, client: int) -> Memory:
        """Show what a client remembers."""
        return self._memories.get(client, {})

    def restore(self, memories: Mapping[int, Memory]) -> None:
        """Give clients their memories back."""
        self._memories = dict(memories)

    def close(self, failed: bool = False) -> None:
        """Forget what clients remember."""
        self._memories.clear()

    def _train(self, task: Task) -> Update:
        client, memory = self._clients[task.client], self.memory(task.client)
        update, memory = train_client(self._method, task, client, memory)
        self._memories[task.client] = memory
        return update


def train_client(
    method: Method[Any], task: Task, client: Client, memory: Memory
) -> tuple[Update, Memory]:
    """Call `method.train`; an error says in which client and round it happened."""
    try:
        return method.train(task, client, memory)
    except FedSemiError:
        raise
    except Exception as error:
        if lacks_memory(error):
            raise OutOfMemory(
                f"client {task.client} found no memory in round {task.round}; use "
                "fewer workers, or a smaller batch size in a new run"
            ) from error
        reason = f"{type(error).__name__}: {error}"
        raise ClientFailed(task.client, task.round, reason) from error


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one torch thread for a while."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
