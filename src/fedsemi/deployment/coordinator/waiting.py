"""Questions that are held until there is an answer, so that nobody has to ask twice.

Flower's sites ask for work every few seconds, and so does whoever waits for an answer.
Here a site's question stays open until a letter for it arrives, and that of the run
until a site has sent something; a few seconds at most, since a connection that broke
without a word would be waited for in vain.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import MutableMapping
from typing import Any

from flwr.proto.fleet_pb2 import PullMessagesRequest
from flwr.proto.runtime_pb2 import PushAppMessagesRequest
from flwr.supercore.constant import FLEET_HTTP_PUBLIC_KEY_HEADER
from google.protobuf.message import DecodeError
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

NEWS = "/v1/fedsemi/news"
"""Where the run asks whether a site has sent something."""
HOLD = 10.0
_PULL = "/v1/fleet/pull-messages"
_LETTERS = "/v1/runtime/push-messages"
_ANSWERS = ("/v1/fleet/push-messages", "/v1/fleet/push-object")
_GATHER = 0.02
"""Seconds in which the parts of an answer are waited for before the run is told."""

_ASKED_ANEW = JSONResponse({"detail": "asked anew"}, 503)


class Waiting:
    """Stands before an app and lets it answer when there is something to say."""

    def __init__(self, app: ASGIApp, hold: float = HOLD) -> None:
        self._app = app
        self._hold = hold
        self._letters: dict[int, asyncio.Event] = {}
        """Rings for the node whose question is held."""
        self._idle: dict[int, bytes] = {}
        """The keys of nodes that had no letter when they asked, and got none since."""
        self._rung = 0
        self._sent = 0
        self._arrival = asyncio.Condition()

    async def __call__(
        self, scope: Scope, body: bytes, receive: Receive, send: Send
    ) -> None:
        """Answer a request whose body has been read."""
        path = scope["path"]
        if path == NEWS:
            response = JSONResponse({"sent": await self._news(body)})
            await response(scope, receive, send)
        elif path == _PULL:
            await self._pull(scope, body, receive, send)
        else:
            await self._app(scope, again(body, receive), send)
            if path == _LETTERS:
                self._ring(body)
            elif path in _ANSWERS:
                async with self._arrival:
                    self._sent += 1
                    self._arrival.notify_all()

    async def release(self) -> None:
        """Answer whatever is held, and hold nothing more: the server ends."""
        self._hold = 0.0
        for bell in self._letters.values():
            bell.set()
        async with self._arrival:
            self._sent += 1
            self._arrival.notify_all()

    async def _news(self, body: bytes) -> int:
        """Wait until sites have sent more than the run knows of."""
        asked = json.loads(body)
        hold = min(self._hold, float(asked["seconds"]))
        try:
            async with asyncio.timeout(hold), self._arrival:
                await self._arrival.wait_for(lambda: self._sent != asked["sent"])
            await asyncio.sleep(_GATHER)
        except TimeoutError:
            pass
        return self._sent

    def _ring(self, body: bytes) -> None:
        self._rung += 1
        for node in _addressed(body):
            self._idle.pop(node, None)
            if node in self._letters:
                self._letters[node].set()

    async def _pull(
        self, scope: Scope, body: bytes, receive: Receive, send: Send
    ) -> None:
        """Hold a question for letters, then ask the app.

        Only that of a node which had none a moment ago, and only if it is signed with
        the key that the app takes for that node's.
        """
        node, signer = _asking(body), _signer(scope)
        if self._idle.get(node) == signer:
            bell = asyncio.Event()
            if node in self._letters:
                self._letters[node].set()  # it asks anew, and will hear one answer
            self._letters[node] = bell
            gone = await self._gone(bell, receive)
            if self._letters.get(node) is not bell:
                await _ASKED_ANEW(scope, receive, send)
                return
            del self._letters[node]
            if gone:
                return
        rung = self._rung
        said = await self._said(scope, body, receive)
        if _is_nothing(said) and rung == self._rung:
            self._idle[node] = signer
        for message in said:
            await send(message)

    async def _gone(self, bell: asyncio.Event, receive: Receive) -> bool:
        """Wait for a letter; say whether who asked for it has hung up meanwhile.

        A letter that is fetched for nobody would be lost.
        """
        rung, gone = (
            asyncio.ensure_future(bell.wait()),
            asyncio.ensure_future(receive()),
        )
        try:
            await asyncio.wait(
                {rung, gone}, timeout=self._hold, return_when=asyncio.FIRST_COMPLETED
            )
            return gone.done()
        finally:
            rung.cancel()
            gone.cancel()

    async def _said(self, scope: Scope, body: bytes, receive: Receive) -> list[Message]:
        """Let the app answer, and keep what it says."""
        said: list[Message] = []

        async def keep(message: Message) -> None:
            said.append(message)

        # The app changes its scope, and is asked twice.
        await self._app(dict(scope), again(body, receive), keep)
        return said


def again(body: bytes, receive: Receive) -> Receive:
    """Hand out a body that has been read."""
    left: list[MutableMapping[str, Any]] = [
        {"type": "http.request", "body": body, "more_body": False}
    ]

    async def receive_again() -> Message:
        return left.pop() if left else await receive()

    return receive_again


def _is_nothing(said: list[Message]) -> bool:
    """Tell whether Flower found no letter: its answer is then well and empty."""
    status = [m["status"] for m in said if m["type"] == "http.response.start"]
    return status == [200] and not any(m.get("body") for m in said)


def _signer(scope: Scope) -> bytes:
    """Return whose signature the front has checked."""
    name = FLEET_HTTP_PUBLIC_KEY_HEADER.encode()
    return next(bytes(value) for key, value in scope["headers"] if key == name)


def _asking(body: bytes) -> int:
    try:
        return int(PullMessagesRequest.FromString(body).node.node_id)
    except DecodeError:
        return 0


def _addressed(body: bytes) -> list[int]:
    try:
        found = PushAppMessagesRequest.FromString(body).messages_list
    except DecodeError:
        return []
    return [int(each.metadata.dst_node_id) for each in found]
