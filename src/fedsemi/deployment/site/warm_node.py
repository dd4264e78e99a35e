"""A SuperNode whose tasks are carried out by this process: warm, and with our code.

The SuperNode leaves its tasks to this process, which has imported all that a task
needs; each message still gets a process of its own. The token of a task then stands in
no command line, only who knows a secret of this start is given it, and the bundle that
came with a run is compared and dropped: it is never unpacked, imported or executed.
"""

from __future__ import annotations

import logging
import os
import secrets
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from flwr.app import Context, Message, RecordDict
from flwr.common.constant import SubStatus
from flwr.supercore.app_utils import start_parent_process_monitor
from flwr.supercore.constant import TaskType
from flwr.supercore.interceptors import (
    RuntimeTokenHttpInterceptor,
    RuntimeVersionHttpInterceptor,
    SuperExecAuthHttpInterceptor,
)
from flwr.supercore.retry import RetryInvoker, make_simple_http_retry_invoker
from flwr.supercore.runtime import RuntimeHttpClient
from flwr.supernode.runtime.run_clientapp import (
    pull_task_input,
    push_message,
    push_task_output,
)

from fedsemi.deployment import processes
from fedsemi.deployment.bundle import check_bundle, delete_bundles
from fedsemi.deployment.site.client_app import client_app, deployed_desk, failure
from fedsemi.deployment.site.egress import log_reply
from fedsemi.deployment.site.node import REFUSALS
from fedsemi.deployment.tasks import heartbeats, serve_tasks
from fedsemi.errors import FedSemiError
from fedsemi.storage import make_folder, write_whole

SECRET = "tasks.secret"
client = client_app(deployed_desk)
"""The ClientApp of every deployed site."""
_END_SECONDS = 15
_PAUSE = 0.1
_ACQUIRE = "/flwr.proto.Runtime/AcquireTask"
# Every kind that a SuperNode can be given: one that stayed would block it for good.
_KINDS = (TaskType.CLIENT_APP, TaskType.AGENT_APP)
# The site takes no part for want of a plug-in, or for its policy: whoever runs it
# should see why.
_TOLD = ("FS2130", "FS2131", "FS2137", "FS2138", "FS61")
logger = logging.getLogger("fedsemi.flower")


def run_node(home: Path, port: int, arguments: Sequence[str]) -> int:
    """Run a SuperNode and the tasks that it is given, until it ends.

    Returns:
        The exit code of the SuperNode.
    """
    delete_bundles(home)
    secret = secrets.token_bytes(32)
    path = make_folder(home, private=True) / SECRET
    write_whole(path, secret, private=True)
    node = subprocess.Popen(
        [
            processes.program("flower-supernode"),
            "--isolation=process",
            f"--superexec-auth-secret-file={path}",
            f"--port={port}",
            *arguments,
        ],
        preexec_fn=processes.die_with_parent,
    )
    try:
        address = f"127.0.0.1:{port}"
        carry_out = partial(_carry_out, address, home)
        signs = SuperExecAuthHttpInterceptor(
            master_secret=secret, protected_methods={_ACQUIRE}
        )
        with closing(_client(address, signs)) as tasks:
            serve_tasks(tasks, _KINDS, carry_out, lambda: node.poll() is None, _PAUSE)
        return node.returncode
    finally:
        _end(node)


def answer(message: Message, context: Context, bundle: bytes, home: Path) -> Message:
    """Let the installed app answer, if the run is one of fedsemi's.

    Whatever is answered is noted in the site's own log first, or not sent.
    """
    content = _content(message, context, bundle, home)
    try:
        log_reply(home.parent, str(context.run_config.get("plan")), message, content)
    except FedSemiError as error:
        _note(home, f"run {context.run_id}: {error}")
        content = failure("FS6105", "FS6105 the site cannot note what it sends")
    return Message(content, reply_to=message)


def _content(
    message: Message, context: Context, bundle: bytes, home: Path
) -> RecordDict:
    try:
        check_bundle(bundle, context.run_config)
        reply = client(message, context).content
        if "failure" in reply:
            why = reply["failure"]
            if str(why["code"]).startswith(_TOLD):
                _note(home, f"run {context.run_id}: {why['reason']!s}")
        return reply
    except FedSemiError as refusal:
        _note(home, f"run {context.run_id}: {refusal}")
        return failure(refusal.code, str(refusal))
    except Exception as error:  # Flower's, for a message that no app answers
        logger.error("a message was not answered", exc_info=error)
        return failure("FS2301", f"FS2301 {type(error).__name__}")


def _note(home: Path, line: str) -> None:
    """Show a refusal to whoever runs the site, once however often it is asked."""
    path = home / REFUSALS
    if not path.exists() or line not in path.read_text("utf-8").splitlines():
        processes.add_line(path, line)


def _carry_out(address: str, home: Path, token: str) -> None:
    """Answer one message, in a fork."""
    start_parent_process_monitor(os.getppid())
    retry, shown = make_simple_http_retry_invoker(), RuntimeTokenHttpInterceptor(token)
    with closing(_client(address, shown, retry)) as tasks, heartbeats(tasks):
        context, status, why = None, SubStatus.FAILED, "it was stopped"
        try:
            message, context, _, fab = pull_task_input(tasks)
            push_message(tasks, answer(message, context, fab.content, home), context)
            status, why = SubStatus.COMPLETED, ""
        finally:
            retry.max_tries = 1  # the SuperNode may be gone
            push_task_output(tasks, context, status, why)


def _client(
    address: str,
    credential: SuperExecAuthHttpInterceptor | RuntimeTokenHttpInterceptor,
    retry: RetryInvoker | None = None,
) -> RuntimeHttpClient:
    return RuntimeHttpClient.from_server_address(
        server_address=address,
        insecure=True,
        root_certificates=None,
        interceptors=[RuntimeVersionHttpInterceptor("fedsemi"), credential],
        retry_invoker=retry,
    )


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
