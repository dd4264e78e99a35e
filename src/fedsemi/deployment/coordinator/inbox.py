"""Take replies from a grid one by one, and none that is larger than it may be.

Flower's own `pull_messages` builds whatever was sent, in as much memory as that takes,
waits up to two hours for a part that never comes, and lets one strange reply lose all
that were fetched with it. So replies that came over the network are fetched here part
by part. A reply belongs to the message that it was fetched for; what it says of itself
is its sender's word.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import httpx
from flwr.app import Array, Message
from flwr.proto.message_pb2 import ConfirmMessageReceivedRequest, PullObjectRequest
from flwr.proto.runtime_pb2 import PullAppMessagesRequest
from flwr.serverapp import Grid
from flwr.supercore.inflatable.inflatable_object import (
    get_object_body,
    get_object_head_values_from_object_content,
    iterate_object_tree,
)
from flwr.supercore.inflatable.inflatable_utils import inflate_object_from_contents
from flwr.superlink.grid.http_grid import HttpGrid

from fedsemi.errors import ProtocolError

_PARTS = 64
_PART_BYTES = 1 << 20
_HEAD_BYTES = 1 << 16
"""An honest reply has a few parts beside those that its arrays are cut into, with
heads of their own; Flower cuts at five of these."""


@dataclass
class _Parcel:
    """A reply that is on its way: the names of its parts, and those that are here."""

    id: str
    names: list[str]
    parts: dict[str, bytes] = field(default_factory=dict)


class Inbox:
    """Where the replies to some messages arrive."""

    def __init__(self, grid: Grid, limit: int) -> None:
        self._grid = grid
        self._limit = limit
        self._parcels: dict[str, _Parcel] = {}
        self._unreadable: set[str] = set()

    def look(self, ids: Iterable[str]) -> None:
        """Ask which replies are there, and of what parts; one question for all."""
        known = self._parcels.keys() | self._unreadable
        unknown = [id for id in ids if id not in known]
        if not unknown or not isinstance(self._grid, HttpGrid):
            return
        try:
            self._ask(self._grid, unknown)
        except httpx.HTTPError:
            raise
        except Exception:
            # Lists of parts are made by sites: a strange one must not hide the others.
            if len(unknown) == 1:
                self._unreadable.update(unknown)
            else:
                for id in unknown:
                    self.look([id])

    def _ask(self, grid: HttpGrid, unknown: Sequence[str]) -> None:
        request = PullAppMessagesRequest(message_ids=unknown)
        answer = grid._runtime_client.PullMessages(request)
        trees = zip(answer.messages_list, answer.message_object_trees, strict=True)
        for message, tree in trees:
            id = message.metadata.reply_to_message_id
            if id in unknown:
                names = dict.fromkeys(o.object_id for o in iterate_object_tree(tree))
                self._parcels[id] = _Parcel(message.metadata.message_id, list(names))

    def take(self, id: str) -> Message | None:
        """Return the reply to a message that was looked for, None while it is not here.

        Raises:
            ProtocolError: It is too large, or parts of it are lost.
            Exception: Whatever Flower makes of bytes that a site made up.
        """
        if not isinstance(self._grid, HttpGrid):
            found = list(self._grid.pull_messages([id]))
            return found[0] if found else None
        if id in self._unreadable:
            raise ProtocolError("its list of parts is unreadable", code="FS2105")
        parcel = self._parcels.get(id)
        if parcel is None:
            return None
        try:
            self._check_names(parcel)
            if not self._fetched(self._grid, parcel):
                return None
        except ProtocolError:
            self._confirm(self._grid, parcel)
            raise
        self._confirm(self._grid, parcel)
        del self._parcels[id]
        self._check_arrays(parcel)
        reply = inflate_object_from_contents(parcel.id, parcel.parts)
        if not isinstance(reply, Message):
            raise ProtocolError("the reply is no message", code="FS2105")
        return reply

    def _check_names(self, parcel: _Parcel) -> None:
        if len(parcel.names) > _PARTS + self._limit // _PART_BYTES:
            raise ProtocolError(f"{len(parcel.names):,} parts", code="FS2105")

    def _fetched(self, grid: HttpGrid, parcel: _Parcel) -> bool:
        """Fetch the parts that are there; say whether they are all."""
        client, run = grid._runtime_client, grid.run.run_id
        for name in parcel.names:
            if name in parcel.parts:
                continue
            wanted = PullObjectRequest(node=grid.node, run_id=run, object_id=name)
            part = client.PullObject(wanted)
            if not part.object_found:
                raise ProtocolError("a part of the reply is lost", code="FS2105")
            if not part.object_available:
                return False
            parcel.parts[name] = part.object_content
            self._check(sum(map(len, parcel.parts.values())))
        return True

    def _confirm(self, grid: HttpGrid, parcel: _Parcel) -> None:
        """Let the SuperLink forget a reply, whether it is wanted or not."""
        run = grid.run.run_id
        grid._runtime_client.ConfirmMessageReceived(
            ConfirmMessageReceivedRequest(
                node=grid.node, run_id=run, message_object_id=parcel.id
            )
        )

    def _check_arrays(self, parcel: _Parcel) -> None:
        """Add up what arrays come to: one may name the same part many times."""
        total = 0
        for part in parcel.parts.values():
            kind, children, _ = get_object_head_values_from_object_content(part)
            if kind == Array.__qualname__:
                places = json.loads(get_object_body(part, Array))["arraychunk_ids"]
                sizes = [len(parcel.parts[child]) for child in children]
                total += sum(sizes[place] for place in places)
        self._check(total)

    def _check(self, size: int) -> None:
        if size > self._limit + _HEAD_BYTES:
            raise ProtocolError(
                f"the reply holds over {self._limit:,} bytes", code="FS2105"
            )
