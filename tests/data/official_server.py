"""A small web server on this machine that can be made to fail as others do."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Shop:
    """What is offered, and how it goes wrong."""

    files: dict[str, bytes]
    address: str = ""
    cuts: list[int] = field(default_factory=list)
    """After how many bytes the next answers break off."""
    ranges: bool = True
    moved: dict[str, str] = field(default_factory=dict)
    head: bool = True
    length: bool = True
    pace: float = 0.0
    """Seconds of waiting after each piece of 1000 bytes."""
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)
    """Verb, path and range of each request."""

    def url(self, name: str) -> str:
        return f"{self.address}/{name}"


@contextmanager
def serving(shop: Shop) -> Iterator[Shop]:
    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, body: bool) -> None:
            wanted = self.headers.get("Range")
            name = self.path.lstrip("/").partition("?")[0]
            shop.asked.append((self.command, name, wanted))
            if not body and not shop.head:
                self.send_error(405)
            elif name in shop.moved:
                self.send_response(302)
                self.send_header("Location", shop.moved[name])
                self.end_headers()
            elif name not in shop.files:
                self.send_error(404)
            else:
                self._send(shop.files[name], wanted if shop.ranges else None, body)

        def _send(self, content: bytes, wanted: str | None, body: bool) -> None:
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
            if start >= len(content) > 0:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.end_headers()
                return
            self.send_response(206 if wanted else 200)
            if wanted:
                last = len(content) - 1
                told = f"bytes {start}-{last}/{len(content)}"
                self.send_header("Content-Range", told)
            if shop.length:
                self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            if body:
                self._pieces(content[start:])

        def _pieces(self, content: bytes) -> None:
            content = content[: shop.cuts.pop(0)] if shop.cuts else content
            for first in range(0, len(content), 1000):
                try:
                    self.wfile.write(content[first : first + 1000])
                    self.wfile.flush()
                except OSError:
                    return
                time.sleep(shop.pace)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    shop.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield shop
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
