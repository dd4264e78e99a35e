"""A page on this machine that follows a run, also one that another process conducts.

It reads the folder of the run and nothing else, so it works for every engine, for runs
that were resumed, and for folders on a shared disk.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread, current_thread
from typing import Any
from weakref import WeakSet

from fedsemi.errors import CannotCreate, FedSemiError
from fedsemi.report.build import page
from fedsemi.report.run import read_run
from fedsemi.report.view import view_of
from fedsemi.run_folder import METRICS

HOST = "127.0.0.1"
_WATCHED = (METRICS, "summary.json", "alarms.jsonl", "analysis.json", "value.json")
_LOOK_EVERY = 0.5
_BEAT_EVERY = 15.0
_FAREWELL = 2.0
"""Seconds that a browser has to take the last round when the server stops."""
_WAITING = """<!doctype html><html lang="en"><meta http-equiv="refresh" content="2">
<title>fedsemi</title><p>The run has not begun yet; this page looks again by itself."""


class LivePage(ThreadingHTTPServer):
    """Serves the page of one run to browsers on this machine."""

    daemon_threads = True

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.folder = folder
        self.closing = Event()
        # Weak, because a browser may come back many times in a long run.
        self.listeners: WeakSet[Thread] = WeakSet()
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise _cannot_open(port, error.strerror or str(error)) from None
        except OverflowError:
            raise _cannot_open(port, "ports go from 0 to 65535") from None

    @property
    def address(self) -> str:
        """Where a browser finds the page."""
        return f"http://{HOST}:{self.server_port}/"

    def server_close(self) -> None:
        """Stop, and let go of browsers that wait, with the run as it is at last."""
        self.closing.set()
        for listener in list(self.listeners):
            listener.join(_FAREWELL)
        super().server_close()

    def view(self) -> dict[str, Any]:
        """Read the run as it is now, and how long ago its last round was written."""
        _, written = _trace(self.folder / METRICS)
        age = max(0.0, time.time() - written / 1e9) if written else 0.0
        return view_of([read_run(self.folder)]) | {"age": round(age, 1)}

    def traces(self) -> tuple[tuple[int, int], ...]:
        """Tell whether anything was written: sizes and times of the files."""
        return tuple(_trace(self.folder / name) for name in _WATCHED)


@contextmanager
def following(folder: Path, port: int = 0) -> Iterator[LivePage]:
    """Serve the page of a run in the background for a while."""
    server = LivePage(folder, port)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: LivePage

    def do_GET(self) -> None:
        # A page elsewhere whose name was made to point here must not read the run.
        host = self.headers.get("Host", "").rsplit(":", 1)[0]
        if host not in (HOST, "localhost"):
            self._send(403, "text/plain", "open this page as localhost")
        elif self.path == "/events":
            self._events()
        elif self.path in ("/", "/data"):
            self._page() if self.path == "/" else self._data()
        else:
            self._send(404, "text/plain", "there is nothing here")

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the terminal free for the run."""

    def _page(self) -> None:
        try:
            content = page(
                f"{self.server.folder.name} – fedsemi", self.server.view(), live=True
            )
        except FedSemiError:
            self._send(503, "text/html", _WAITING)
        else:
            self._send(200, "text/html", content)

    def _data(self) -> None:
        try:
            self._send(200, "application/json", json.dumps(self.server.view()))
        except FedSemiError as error:
            self._send(503, "text/plain", str(error))

    def _events(self) -> None:
        """Send a line whenever the run has written something, and the end itself."""
        self.server.listeners.add(current_thread())
        self._head(200, "text/event-stream")
        seen, beat = self.server.traces(), time.monotonic()
        # The browser may go at any time.
        with suppress(OSError):
            while not self.server.closing.wait(_LOOK_EVERY):
                now = self.server.traces()
                if now != seen:
                    seen = now
                    self._write("data: round\n\n")
                elif time.monotonic() - beat > _BEAT_EVERY:
                    beat = time.monotonic()
                    self._write(": still here\n\n")
            with suppress(FedSemiError):
                self._write(f"event: end\ndata: {json.dumps(self.server.view())}\n\n")

    def _write(self, text: str) -> None:
        self.wfile.write(text.encode())
        self.wfile.flush()

    def _send(self, status: int, kind: str, content: str) -> None:
        body = content.encode()
        self._head(status, kind, len(body))
        # The browser may have gone meanwhile.
        with suppress(OSError):
            self.wfile.write(body)

    def _head(self, status: int, kind: str, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Cache-Control", "no-store")
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()


def _cannot_open(port: int, why: str) -> CannotCreate:
    return CannotCreate(
        f"cannot open port {port} on {HOST}: {why}; choose another --port"
    )


def _trace(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
