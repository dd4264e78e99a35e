"""A page on this machine that follows a run, also one that another process runs.

It reads the folder of the run and nothing else, so it works for every engine, for runs
that were resumed, and for folders on a shared disk.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import BoundedSemaphore, Event, Lock, Thread, current_thread
from typing import Any
from weakref import WeakSet

from fedsemi.errors import FedSemiError
from fedsemi.report.build import page, policy
from fedsemi.report.companion import FOLDER
from fedsemi.report.local_server import (
    HOST,
    LIMITS,
    NOTHING,
    Limits,
    LocalHandler,
    LocalServer,
    served,
)
from fedsemi.report.run import ALARMS, read_run
from fedsemi.report.view import view_of
from fedsemi.runs.folder import METRICS
from fedsemi.text.printable import printable

_WATCHED = (
    *(METRICS, "summary.json", ALARMS, "analysis.json", "value.json"),
    *(f"{FOLDER}/{name}" for name in (METRICS, "summary.json", "analysis.json")),
)
_LOOK_EVERY = 0.5
_BEAT_EVERY = 15.0
_FAREWELL = 2.0
"""Seconds that a browser has to take the last round when the server stops."""
_WAITING = """<!doctype html><html lang="en"><meta http-equiv="refresh" content="2">
<title>fedsemi</title><p>The run has not begun yet; this page looks again by itself."""


class LivePage(LocalServer):
    """Serves the page of one run to browsers on this machine."""

    def __init__(self, folder: Path, port: int = 0, limits: Limits = LIMITS) -> None:
        self.folder = folder
        self.closing = Event()
        # Weak, because a browser may come back many times in a long run.
        self.listeners: WeakSet[Thread] = WeakSet()
        self.seats = BoundedSemaphore(limits.listeners)
        # Reading a long run takes a moment, which must not be multiplied.
        self._reading = Lock()
        super().__init__(port, _Handler, limits)

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
        with self._reading:
            return view_of([read_run(self.folder)]) | {"age": round(age, 1)}

    def traces(self) -> tuple[tuple[int, int], ...]:
        """Tell whether anything was written: sizes and times of the files."""
        return tuple(_trace(self.folder / name) for name in _WATCHED)


@contextmanager
def following(
    folder: Path, port: int = 0, limits: Limits = LIMITS
) -> Iterator[LivePage]:
    """Serve the page of a run in the background for a while."""
    with served(LivePage(folder, port, limits)) as server:
        yield server


class _Handler(LocalHandler):
    server: LivePage

    def answer(self) -> None:
        """Send the page, its data, or news of the run."""
        if self.path == "/":
            self._page()
        elif self.path not in ("/data", "/events"):
            self.send(404, "there is nothing here")
        # Browsers say whose page asks; pages from elsewhere must not even take a seat.
        elif self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            self.send(403, "only the page of this run may ask for this")
        elif self.path == "/data":
            self._data()
        else:
            self._events()

    def _page(self) -> None:
        title = f"{self.server.folder.name} – fedsemi"
        try:
            content = page(title, self.server.view(), live=True)
        except FedSemiError:
            self.send(503, _WAITING, "text/html")
        else:
            self.send(200, content, "text/html", policy(live=True))

    def _data(self) -> None:
        try:
            self.send(200, json.dumps(self.server.view()), "application/json")
        except FedSemiError as error:
            self.send(503, printable(str(error)))

    def _events(self) -> None:
        """Keep a seat for who wants to hear of the run, if there is one left."""
        if not self.server.seats.acquire(blocking=False):
            number = self.server.limits.listeners
            self.send(503, f"{number} pages follow this run already; close one")
            return
        try:
            self.send_head(200, "text/event-stream", NOTHING)
            if self.command != "HEAD":
                self.server.listeners.add(current_thread())
                self._tell()
        finally:
            self.server.seats.release()

    def _tell(self) -> None:
        """Send a line whenever the run has written something, and the end itself."""
        seen, beat = self.server.traces(), time.monotonic()
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


def _trace(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
