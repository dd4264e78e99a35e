"""Tasks that a SuperLink or SuperNode hands out, carried out in forks of this process.

Flower on its own would start a Python for each task, import torch again, unpack the
bundle of the run and execute it. A fork has imported all that a task needs, and runs
what is installed here.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import httpx
from flwr.proto.runtime_pb2 import AcquireTaskRequest
from flwr.supercore.heartbeat import HeartbeatSender, make_task_heartbeat_fn_http
from flwr.supercore.runtime import RuntimeHttpClient


def serve_tasks(
    tasks: RuntimeHttpClient,
    kinds: Sequence[str],
    carry_out: Callable[[str], None],
    going: Callable[[], bool],
    pause: float,
) -> None:
    """Give each task that waits a fork of its own, for as long as `going` says.

    Args:
        tasks: Where to ask for tasks.
        kinds: Which kinds to take.
        carry_out: Called in the fork with the token of the task.
        going: Whether to go on.
        pause: Seconds between two questions for a task.
    """
    fork = multiprocessing.get_context("fork")
    while going():
        token = _next(tasks, kinds)
        if token:
            fork.Process(target=carry_out, args=(token,), daemon=True).start()
        multiprocessing.active_children()  # buries those that have ended
        time.sleep(pause)


def _next(tasks: RuntimeHttpClient, kinds: Sequence[str]) -> str:
    try:
        return tasks.AcquireTask(AcquireTaskRequest(supported_task_types=kinds)).token
    except httpx.TransportError:  # whoever has the tasks starts or ends
        return ""
    except httpx.HTTPError as error:
        print(f"no task was given: {error}", file=sys.stderr, flush=True)
        time.sleep(1)
        return ""


@contextmanager
def heartbeats(client: RuntimeHttpClient) -> Iterator[None]:
    """Let whoever gave out a task know that it is being worked on."""
    sender = HeartbeatSender(make_task_heartbeat_fn_http(client))
    sender.start()
    try:
        yield
    finally:
        if sender.is_running:
            sender.stop()
