"""A site's connection to its coordinator: fetches letters, brings answers back."""

from __future__ import annotations

import logging
import os
import time
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from flwr.app import Error, Message
from flwr.common.constant import ErrorCode
from flwr.common.serde import message_from_proto
from flwr.proto.message_pb2 import Message as MessageProto
from flwr.proto.message_pb2 import ObjectTree
from flwr.supercore.inflatable.inflatable_object import iterate_object_tree
from flwr.supercore.inflatable.inflatable_utils import (
    pull_objects,
    push_object_contents_from_iterable,
)
from flwr.supercore.run import RunNotRunningException
from flwr.supernode.fleet_http_connection import http_request_response

from fedsemi.deployment import processes
from fedsemi.deployment.certificates import read_site_key
from fedsemi.deployment.site.parcels import Letter, Reply, identify

logger = logging.getLogger("fedsemi.flower")
_LEAST = 1.0
"""Seconds between two questions for a letter; a coordinator holds them for longer."""
_BACKOFF = 0.05
"""Seconds until a part that is on its way to the coordinator is asked for again."""


class Courier:
    """Fetches one letter after the other and delivers what is answered."""

    def __init__(self, callbacks: tuple[Any, ...], desk: Connection) -> None:
        self._node, self._receive, self._send, self._get_run, *others = callbacks
        self._get_bundle, self._pull, self._push, self._confirm = others
        self._desk = desk
        self._runs: dict[int, tuple[dict[str, Any], bytes]] = {}
        self._in_vain = False

    def once(self) -> None:
        """Wait for a letter for a while; have it answered, deliver the answer."""
        started = time.monotonic()
        try:
            found = self._receive()
            # A coordinator answers the first question in vain at once and holds the
            # next one, so that one is asked without a pause: a round lasts no longer.
            pause, self._in_vain = self._in_vain, found is None
            if found is not None:
                self._serve(*found)
            elif pause:
                time.sleep(max(0.0, started + _LEAST - time.monotonic()))
        except RunNotRunningException:
            logger.info("a run ended before its letter was answered")

    def _serve(self, message: Message, tree: ObjectTree) -> None:
        try:
            letter = self._fetched(message, tree)
        except Exception as error:
            # The coordinator will ask again, or do without.
            logger.error("a letter could not be fetched", exc_info=error)
            return
        self._desk.send(letter)
        answer = self._desk.recv() or self._broken_off(message)
        delivered = False
        try:
            self._deliver(letter.run, answer)
            delivered = True
        except Exception as error:
            logger.error("an answer could not be delivered", exc_info=error)
        finally:
            self._desk.send(delivered)

    def _fetched(self, message: Message, tree: ObjectTree) -> Letter:
        run = message.metadata.run_id
        if run not in self._runs:
            about = self._get_run(run)
            bundle = self._get_bundle(about.fab_hash, run).content
            self._runs[run] = dict(about.override_config), bundle
        names = dict.fromkeys(each.object_id for each in iterate_object_tree(tree))
        pull = partial(self._pull, run)
        parts = pull_objects(list(names), pull, initial_backoff=_BACKOFF)
        self._confirm(run, message.metadata.message_id)
        return Letter(tree.object_id, parts, run, self._node, *self._runs[run])

    def _deliver(self, run: int, answer: Reply) -> None:
        message = message_from_proto(MessageProto.FromString(answer.head))
        outline = ObjectTree.FromString(answer.outline)
        wanted, session = self._send(message, outline, 0.0)
        parts = [each for each in answer.parts.items() if each[0] in wanted]
        push_object_contents_from_iterable(parts, partial(self._push, run, session))

    def _broken_off(self, message: Message) -> Reply:
        identify(message.metadata.run_id, self._node)
        why = "the process that carried it out has ended"
        return Reply.of(
            Message(Error(ErrorCode.CLIENT_APP_CRASHED, why), reply_to=message)
        )


def connect(server: str, ca: Path, key: Path, desk: Connection) -> None:
    """Work for a coordinator until it or whoever answers letters is gone.

    This runs in a process of its own: no other one has the site's key in memory.
    """
    parent = os.getppid()
    processes.end_on_sigterm()
    processes.die_with_parent()
    private = read_site_key(key)
    keys = private, private.public_key()
    with http_request_response(server, False, str(ca), keys) as callbacks:
        courier = Courier(callbacks, desk)
        while os.getppid() == parent:
            courier.once()
