"""A grid whose nodes are the clients of a job of NVIDIA FLARE."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from flwr.app import Error, Message
from flwr.proto.node_pb2 import NodeInfo

from fedsemi.deployment.certificates import ENROLLED
from fedsemi.deployment.coordinator.register import Register
from fedsemi.deployment.flare_letters import META, packed, unpacked
from fedsemi.deployment.one_run_grid import OneRunGrid
from fedsemi.errors import ProtocolError
from fedsemi.storage import make_folder

_UNREADABLE = 1
"""A code of Flower's errors; what it says is what counts."""
Send = Callable[
    [str, Mapping[str, Any], Mapping[str, Any], Callable[[Any], None]], None
]
"""Sends parameters and meta data to a client, and calls back with its answer."""


class NamedRegister(Register):
    """Which client of FLARE is which site: FLARE vouches for the names."""

    def __init__(self, coordinator: Path, clients: Mapping[str, int]) -> None:
        self._clients = dict(clients)
        make_folder(coordinator / ENROLLED)  # for the counts of the sites
        super().__init__(coordinator)

    def _numbers(self) -> dict[bytes, int]:
        return {name.encode(): number for name, number in self._clients.items()}


class FlareGrid(OneRunGrid):
    """Sends messages through FLARE; a node is a client, its key is the client's name.

    With it a run under FLARE is a run like all others: who joins, deadlines, quorum,
    what is checked of an answer and every step of the server are the same code.
    """

    def __init__(
        self, send: Send, names: Callable[[], Iterable[str]], settings: dict[str, str]
    ) -> None:
        super().__init__()
        self._send = send
        self._names = names
        self._settings = settings
        self._nodes: dict[str, int] = {}
        self._asked: dict[str, Message] = {}
        self._replies: dict[str, Message] = {}
        self._lock = threading.Lock()

    def get_node_ids(self) -> Iterable[int]:
        """List the clients that are there, by numbers that stay theirs."""
        return [node.node_id for node in self.get_nodes()]

    def get_nodes(self) -> Iterable[NodeInfo]:
        """List the clients that are there, with their names as keys."""
        found = []
        for name in sorted(self._names()):
            node = self._nodes.setdefault(name, len(self._nodes) + 1)
            found.append(NodeInfo(node_id=node, public_key=name.encode()))
        return found

    def _push(self, id: str, message: Message) -> None:
        """Hand a message to FLARE as a task of its own."""
        names = {node: name for name, node in self._nodes.items()}
        self._asked[id] = message
        meta = {META: {"kind": message.metadata.message_type, **self._settings}}
        name = names[message.metadata.dst_node_id]
        self._send(name, packed(message.content), meta, self._keeper(id))

    def _keeper(self, id: str) -> Callable[[Any], None]:
        def came(model: Any) -> None:
            asked = self._asked[id]
            try:
                reply = Message(unpacked(model.params), reply_to=asked)
            except ProtocolError as error:
                # In a thread of FLARE's nobody would hear of it: the round shall.
                reply = Message(Error(_UNREADABLE, str(error)), reply_to=asked)
            with self._lock:
                self._replies[id] = reply

        return came

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        """Hand out the answers that have come."""
        with self._lock:
            return [self._replies.pop(id) for id in message_ids if id in self._replies]

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> Iterable[Message]:
        """Nobody waits here: rounds ask again and again, and have deadlines."""
        raise NotImplementedError("use push_messages and pull_messages")
