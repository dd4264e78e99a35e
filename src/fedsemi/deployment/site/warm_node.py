"""A site at work: one process holds the connection, a fork of this one answers.

This process has imported all that a task needs, opens no connection and has no thread,
so that a fork of it begins to work at once; each letter gets one of its own. The bundle
that came with a run is compared and dropped: it is never unpacked or executed.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import torch
from flwr.app import Context, Message, RecordDict

from fedsemi.deployment import processes
from fedsemi.deployment.bundle import check_bundle, delete_bundles
from fedsemi.deployment.site.client_app import (
    client_app,
    deployed_desk,
    failure,
    leaving,
)
from fedsemi.deployment.site.connection import connect
from fedsemi.deployment.site.egress import log_reply
from fedsemi.deployment.site.node import REFUSALS
from fedsemi.deployment.site.parcels import Letter, Reply
from fedsemi.deployment.site.standing import check_standing, note_told
from fedsemi.errors import FedSemiError
from fedsemi.storage import make_folder

client = client_app(deployed_desk)
"""The ClientApp of every deployed site."""
_END_SECONDS = 15
# The site takes no part for want of a plug-in, for its policy, or for a plan that asks
# for its files: whoever runs it should see why.
_TOLD = ("FS2130", "FS2131", "FS2137", "FS2138", "FS2139", "FS61")
_fork = multiprocessing.get_context("fork")
logger = logging.getLogger("fedsemi.flower")


def run_node(
    home: Path, server: str, ca: Path, key: Path, settings: Mapping[str, str]
) -> int:
    """Answer the letters of a coordinator until the connection ends.

    Returns:
        The exit code of the process that held the connection.
    """
    delete_bundles(make_folder(home, private=True))
    _load_early()
    here, there = _fork.Pipe()
    link = _fork.Process(target=_connect, args=(server, ca, key, here, there))
    link.start()
    there.close()
    try:
        while True:
            reply = _answered(here.recv(), home, settings)
            here.send(reply)
            delivered = here.recv()
            if delivered and reply is not None and reply.excused:
                note_told(home.parent)
    except (EOFError, BrokenPipeError):
        link.join()
        return link.exitcode or 0
    finally:
        _end(link)


def _load_early() -> None:
    """Import what torch imports with the first optimizer: its compiler, for a second.

    Every fork would do it again, and throw it away with its task.
    """
    torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)


def _connect(
    server: str, ca: Path, key: Path, desk: Connection, own: Connection
) -> None:
    desk.close()  # or the end of the other process would not show
    with suppress(EOFError, BrokenPipeError):  # whoever answers has gone
        connect(server, ca, key, own)


def _answered(letter: Letter, home: Path, settings: Mapping[str, str]) -> Reply | None:
    """Answer a letter in a fork; None if that has ended without an answer."""
    here, there = _fork.Pipe(duplex=False)
    work = _fork.Process(target=_work, args=(letter, home, settings, there))
    work.start()
    there.close()
    try:
        answer: Reply = here.recv()
        return answer
    except EOFError:
        return None
    finally:
        here.close()
        work.join()


def _work(
    letter: Letter, home: Path, settings: Mapping[str, str], desk: Connection
) -> None:
    processes.die_with_parent(signal.SIGKILL)
    run, node = letter.run, letter.node
    context = Context(run, node, dict(settings), RecordDict(), letter.settings)
    desk.send(Reply.of(answer(letter.opened(), context, letter.bundle, home)))


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
        check_standing(home.parent)
        reply = client(message, context).content
        if "failure" in reply:
            why = reply["failure"]
            if str(why["code"]).startswith(_TOLD):
                _note(home, f"run {context.run_id}: {why['reason']!s}")
        return reply
    except FedSemiError as refusal:
        _note(home, f"run {context.run_id}: {refusal}")
        return failure(refusal.code, leaving(refusal))
    except Exception as error:  # Flower's, for a message that no app answers
        logger.error("a message was not answered", exc_info=error)
        return failure("FS2301", f"FS2301 {type(error).__name__}")


def _note(home: Path, line: str) -> None:
    """Show a refusal to whoever runs the site, once however often it is asked."""
    path = home / REFUSALS
    if not path.exists() or line not in path.read_text("utf-8").splitlines():
        processes.add_line(path, line)


def _end(link: BaseProcess) -> None:
    """Let the connection say goodbye to its coordinator."""
    link.terminate()
    link.join(_END_SECONDS)
    if link.is_alive():
        link.kill()


def main(arguments: list[str]) -> int:
    """Run a node as the command line says: home, server, ca, key and settings."""
    home, server, ca, key, settings = arguments
    processes.end_on_sigterm()
    return run_node(Path(home), server, Path(ca), Path(key), json.loads(settings))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
