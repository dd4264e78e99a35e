"""The front of the SuperLink: who may ask for what, decided before a body is read.

Flower serves sites, operator and running apps on one port and asks only sites for a
key. Here the app that Flower builds listens on two ports, and this filter stands before
it: the public port is for enrolled sites, the private one for who knows the operator's
secret. Each has an exact list of routes; whatever is on neither list does not exist.
"""

from __future__ import annotations

import asyncio
import datetime
import hmac
import time
from base64 import b64decode
from collections.abc import Iterable
from typing import Literal

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from flwr.common.constant import (
    TIMESTAMP_HEADER,
)
from flwr.supercore.constant import (
    FLEET_HTTP_PUBLIC_KEY_HEADER,
    FLEET_HTTP_SIGNATURE_HEADER,
)
from flwr.supercore.primitives.asymmetric import public_key_to_bytes
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from fedsemi.deployment.coordinator.waiting import NEWS, Waiting
from fedsemi.deployment.hello import AHEAD, BEHIND, HELLO

FLEET = frozenset(
    f"/v1/fleet/{name}"
    for name in (
        "activate-node",
        "deactivate-node",
        "send-node-heartbeat",
        "pull-messages",
        "push-messages",
        "get-run",
        "get-fab",
        "push-object",
        "pull-object",
        "confirm-message-received",
    )
)
OPERATOR = frozenset(
    {"/v1/control/register-node", "/v1/control/start-run"}
    | {
        f"/v1/runtime/{name}"
        for name in (
            "acquire-task",
            "send-task-heartbeat",
            "pull-task-input",
            "push-task-output",
            "push-messages",
            "pull-messages",
            "push-object",
            "pull-object",
            "confirm-message-received",
            "get-nodes",
        )
    }
)
MOST_BYTES = 8 << 20
"""Flower cuts arrays into pieces of 5 MiB."""

_BODY_SECONDS = 60.0
_SIGNED = (FLEET_HTTP_PUBLIC_KEY_HEADER, TIMESTAMP_HEADER, FLEET_HTTP_SIGNATURE_HEADER)

Verdict = Literal["welcome", "key", "clock"]


class Guests:
    """The sites that may enter, known by their keys."""

    def __init__(self, keys: Iterable[ec.EllipticCurvePublicKey]) -> None:
        self._keys = {public_key_to_bytes(key): key for key in keys}

    def verdict(self, scope: Scope, now: float) -> Verdict:
        """Say whether a request is signed by an enrolled key, and dated well.

        Who does not hold a key cannot learn whether it is enrolled.
        """
        try:
            public, dated, signature = (_only(scope, name) for name in _SIGNED)
            key = self._keys[b64decode(public, validate=True)]
            key.verify(
                b64decode(signature, validate=True), dated, ec.ECDSA(hashes.SHA256())
            )
            signed_at = datetime.datetime.fromisoformat(dated.decode("ascii"))
        except (KeyError, ValueError, InvalidSignature):
            return "key"
        if (
            signed_at.tzinfo is None
            or not -AHEAD < now - signed_at.timestamp() < BEHIND
        ):
            return "clock"
        return "welcome"


class Front:
    """Passes on to Flower what a port is for, and refuses everything else."""

    def __init__(
        self, app: ASGIApp, guests: Guests, private_port: int, secret: str
    ) -> None:
        self._app = app
        self.waiting = Waiting(app)
        self._guests = guests
        self._private_port = private_port
        self._credential = f"Bearer {secret}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let Flower answer it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        response = self._answer(scope)
        if response is None:
            body = await _read(receive)
            if isinstance(body, bytes):
                await self.waiting(scope, body, receive, send)
                return
            response = body
        await response(scope, receive, send)

    def _answer(self, scope: Scope) -> Response | None:
        """Return None if Flower shall answer."""
        if scope["type"] != "http" or scope["method"] != "POST":
            return _refused(403, "not served here")
        if scope["server"][1] == self._private_port:
            refusal = self._answer_operator(scope)
        else:
            refusal = self._answer_site(scope)
        if refusal is None and _announced_bytes(scope) > MOST_BYTES:
            return _refused(413, "too large")
        return refusal

    def _answer_operator(self, scope: Scope) -> Response | None:
        try:
            known = hmac.compare_digest(_only(scope, "authorization"), self._credential)
        except KeyError:
            known = False
        if not known:
            return _refused(401, "this needs the operator's secret")
        served = scope["path"] in OPERATOR | {NEWS}
        return None if served else _refused(403, "not served here")

    def _answer_site(self, scope: Scope) -> Response | None:
        if scope["path"] not in FLEET | {HELLO}:
            return _refused(403, "not served here")
        now = time.time()
        verdict = self._guests.verdict(scope, now)
        if scope["path"] == HELLO:
            return JSONResponse({"time": now, "verdict": verdict})
        return None if verdict == "welcome" else _refused(401, verdict)


def _only(scope: Scope, name: str) -> bytes:
    """Find the one header of a name; two would leave open which one counts."""
    found = [value for key, value in scope["headers"] if key == name.encode()]
    if len(found) != 1:
        raise KeyError(name)
    return bytes(found[0])


def _announced_bytes(scope: Scope) -> int:
    try:
        return int(_only(scope, "content-length"))
    except (KeyError, ValueError):
        return 0  # it is counted while it arrives


async def _read(receive: Receive) -> bytes | Response:
    """Read a body, unless it is too large or too slow."""
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return _refused(400, "broken off")
                body += message.get("body", b"")
                if len(body) > MOST_BYTES:
                    return _refused(413, "too large")
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError:
        return _refused(408, "too slow")


def _refused(status: int, why: str) -> Response:
    # The connection is closed, so that the rest of a body is not waited for.
    return JSONResponse({"detail": why}, status, {"connection": "close"})
