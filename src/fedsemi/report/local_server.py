"""A web server for this machine that gives nobody more than a fixed part of it.

Whoever can open a connection on loopback, another user or a page in the browser, may
hold a thread only for a while, only some at a time, and only by asking for what is here
by its right name.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from threading import BoundedSemaphore, Thread
from typing import Any, TypeVar

from fedsemi.errors import CannotCreate

HOST = "127.0.0.1"
NOTHING = "default-src 'none'"
"""The content security policy of what is no page."""

_END = b"\r\n\r\n"
_GUARDS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True)
class Limits:
    """What one server gives to all who ask, and what it takes from each."""

    seconds: float = 10.0
    """For a whole request to arrive, and for each piece of an answer to be taken."""
    visitors: int = 32
    """Connections at a time, each of which has a thread."""
    listeners: int = 16
    """Of these, how many may stay and wait for news."""
    head_bytes: int = 16 * 1024
    """Of the request line and headers together."""
    head_lines: int = 64


LIMITS = Limits()


class LocalServer(ThreadingHTTPServer):
    """Listens on loopback, with a bounded number of threads."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self, port: int, handler: type[LocalHandler], limits: Limits = LIMITS
    ) -> None:
        self.limits = limits
        self._room = BoundedSemaphore(limits.visitors)
        try:
            super().__init__((HOST, port), handler)
        except OSError as error:
            raise _cannot_open(port, error.strerror or str(error)) from None
        except OverflowError:
            raise _cannot_open(port, "ports go from 0 to 65535") from None
        self.names = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}
        """What a browser may call this server; it leaves out port 80."""
        if self.server_port == 80:
            self.names |= {HOST, "localhost"}

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a visitor a thread, or say that there is none left."""
        if not self._room.acquire(blocking=False):
            self._turn_away(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # the system starts no more threads
            self._room.release()
            self._turn_away(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a visitor to the end, then let the next one in."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def _turn_away(self, request: socket.socket) -> None:
        """Answer in the thread that lets visitors in, so without waiting for them."""
        body = b"too many connections at a time; try again in a moment\n"
        head = f"HTTP/1.0 503 Service Unavailable\r\nContent-Length: {len(body)}\r\n"
        with suppress(OSError):
            request.setblocking(False)
            request.send(f"{head}Connection: close\r\n\r\n".encode() + body)
            _drain(request)
        self.shutdown_request(request)


S = TypeVar("S", bound=LocalServer)


@contextmanager
def served(server: S) -> Iterator[S]:
    """Let a server answer in the background for a while."""
    # How long a server that is told to stop may go on waiting for visitors.
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class LocalHandler(BaseHTTPRequestHandler):
    """Answers one request; `answer` says with what."""

    server: LocalServer
    default_request_version = "HTTP/1.0"  # so that every answer has headers
    server_version = "fedsemi"
    sys_version = ""

    def answer(self) -> None:
        """Answer a GET or HEAD that was asked by the right name."""
        raise NotImplementedError

    def handle(self) -> None:
        """Read the head of one request within the limits, answer it, hang up."""
        with suppress(OSError):  # the visitor may go at any time
            head = self._head_of_request()
            self.rfile.close()
            self.rfile = BytesIO(head)
            if head:
                self.connection.settimeout(self.server.limits.seconds)
                self.handle_one_request()
            _drain(self.connection)

    def do_GET(self) -> None:
        """Answer, if the server was called by its own name.

        A page elsewhere whose name was made to point here must not read the run.
        """
        if self.headers.get_all("Host", []) not in [[n] for n in self.server.names]:
            self.send(403, f"open this page as {sorted(self.server.names)[0]}")
        else:
            self.answer()

    do_HEAD = do_GET

    def send(
        self,
        status: int,
        content: str,
        kind: str = "text/plain",
        policy: str = NOTHING,
    ) -> None:
        """Send a whole answer."""
        body = content.encode()
        self.send_head(status, kind, policy, {"Content-Length": str(len(body))})
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_head(
        self, status: int, kind: str, policy: str, more: Mapping[str, str] | None = None
    ) -> None:
        """Send status and headers; a body may follow."""
        self.send_response(status)
        headers = _GUARDS | {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Security-Policy": f"{policy}; frame-ancestors 'none'",
            **(more or {}),
        }
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = "GET, HEAD"
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def send_error(
        self, code: int, message: str | None = None, explain: str | None = None
    ) -> None:
        """Refuse what is no request for anything here, in our own words."""
        if code == HTTPStatus.NOT_IMPLEMENTED:
            code = HTTPStatus.METHOD_NOT_ALLOWED
        self.close_connection = True
        self.send(code, HTTPStatus(code).phrase.lower())

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the terminal free for the run."""

    def _head_of_request(self) -> bytes:
        """Return request line and headers, or nothing if they do not come in time."""
        limits, head = self.server.limits, b""
        end = time.monotonic() + limits.seconds
        while _END not in head:
            left = end - time.monotonic()
            if left <= 0:
                return b""
            self.connection.settimeout(left)
            piece = self.connection.recv(limits.head_bytes)
            head += piece
            if not piece:
                return b""
            if len(head) > limits.head_bytes or head.count(b"\n") > limits.head_lines:
                self._refuse_head()
                return b""
        return head

    def _refuse_head(self) -> None:
        self.command, self.requestline = "GET", ""
        self.request_version = self.default_request_version
        self.send_error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)


def _drain(connection: socket.socket) -> None:
    """Read what has come meanwhile: left unread, it makes the answer vanish."""
    with suppress(OSError):
        connection.setblocking(False)
        connection.recv(1 << 16)


def _cannot_open(port: int, why: str) -> CannotCreate:
    return CannotCreate(
        f"cannot open port {port} on {HOST}: {why}; choose another --port"
    )
