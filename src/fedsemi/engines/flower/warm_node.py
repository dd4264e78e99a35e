"""A SuperNode whose ClientApps start warm: torch is imported once, messages get forks.

On its own a SuperNode starts a Python for each message, and most of a short round goes
into importing torch again. Here it leaves its tasks to this process, which has imported
all that a task needs; each message still gets a process of its own. The token of a task
then stands in no command line, and only who knows a secret of this start is given it.
"""

from __future__ import annotations

import multiprocessing
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import httpx
from flwr.proto.runtime_pb2 import AcquireTaskRequest
from flwr.supercore.constant import TaskType
from flwr.supercore.interceptors import (
    RuntimeVersionHttpInterceptor,
    SuperExecAuthHttpInterceptor,
)
from flwr.supercore.runtime import RuntimeHttpClient
from flwr.supernode.runtime.run_clientapp import run_clientapp

from fedsemi.engines.flower import processes
from fedsemi.engines.flower.deployed import client as _warm  # noqa: F401
from fedsemi.storage import make_folder

SECRET = "tasks.secret"
_PAUSE = 0.1
_END_SECONDS = 15
_ACQUIRE = "/flwr.proto.Runtime/AcquireTask"


def run_node(home: Path, port: int, arguments: Sequence[str]) -> int:
    """Run a SuperNode and the tasks that it is given, until it ends.

    Returns:
        The exit code of the SuperNode.
    """
    secret = secrets.token_bytes(32)
    node = subprocess.Popen(
        [
            processes.program("flower-supernode"),
            "--isolation=process",
            f"--superexec-auth-secret-file={_written(home, secret)}",
            f"--port={port}",
            *arguments,
        ],
        preexec_fn=processes.die_with_parent,
    )
    try:
        address = f"127.0.0.1:{port}"
        with closing(_client(address, secret)) as tasks:
            while node.poll() is None:
                _take_one(tasks, address)
                time.sleep(_PAUSE)
        return node.returncode
    finally:
        _end(node)


def _take_one(tasks: RuntimeHttpClient, address: str) -> None:
    """Start the oldest task that waits, if any does."""
    try:
        wanted = AcquireTaskRequest(supported_task_types=[TaskType.CLIENT_APP])
        found = tasks.AcquireTask(wanted)
    except httpx.TransportError:  # the SuperNode starts or ends
        return
    except httpx.HTTPError as error:
        print(f"the SuperNode gave no task: {error}", file=sys.stderr, flush=True)
        time.sleep(1)
        return
    if found.token:
        multiprocessing.get_context("fork").Process(
            target=run_clientapp,
            kwargs={
                "runtime_api_address": address,
                "token": found.token,
                "insecure": True,
                "parent_pid": os.getpid(),
            },
            daemon=True,
        ).start()
    multiprocessing.active_children()  # buries those that have ended


def _client(address: str, secret: bytes) -> RuntimeHttpClient:
    return RuntimeHttpClient.from_server_address(
        server_address=address,
        insecure=True,
        root_certificates=None,
        interceptors=[
            RuntimeVersionHttpInterceptor(component_name="SuperExec"),
            SuperExecAuthHttpInterceptor(
                master_secret=secret, protected_methods={_ACQUIRE}
            ),
        ],
    )


def _written(home: Path, secret: bytes) -> Path:
    path = make_folder(home) / SECRET
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(secret)
    return path


def _end(node: subprocess.Popen[bytes]) -> None:
    """Let the SuperNode say goodbye to its coordinator."""
    node.terminate()
    try:
        node.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        node.kill()


if __name__ == "__main__":
    processes.end_on_sigterm()
    sys.exit(run_node(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
