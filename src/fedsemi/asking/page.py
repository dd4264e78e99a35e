"""A page on this machine where a person gives pictures their labels by keyboard.

It is for one browser of one person: bound to loopback, behind a secret in its address,
and deaf to pages from elsewhere. Rows and classes are numbers, so that no request names
a file; what is not in the queue cannot be asked for.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch

from fedsemi.asking.desk import Desk
from fedsemi.data.decode import Pixels, decode
from fedsemi.data.safe_files import Refused, read_regular
from fedsemi.data.site_settings import site_name
from fedsemi.errors import DataError, FedSemiError
from fedsemi.report.build import page, policy
from fedsemi.report.local_server import (
    HOST,
    LIMITS,
    Limits,
    LocalHandler,
    LocalServer,
    served,
)
from fedsemi.report.pictures import thumbnail
from fedsemi.text.printable import visible

_SCRIPTS = ("svg.js", "ask.js")
_LARGE, _SMALL = 1024, 64
"""Sides in pixels: of the picture that is looked at, and of those in the queue."""
_ADDRESS = re.compile("[a-z]*(/[0-9]{1,7}){0,2}")
_NOTHING_HERE = "there is nothing here"


class AskPage(LocalServer):
    """Serves a desk to one browser on this machine."""

    def __init__(
        self, desk: Desk, pixels: Pixels, port: int = 0, limits: Limits = LIMITS
    ) -> None:
        self.desk = desk
        # As large and colorful as they are: a person sees more than the network.
        self._pixels = replace(pixels, side=0, channels=3)
        self.token = secrets.token_urlsafe(24)
        super().__init__(port, _Handler, limits)

    @property
    def address(self) -> str:
        """Where its owner's browser finds the page."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def view(self) -> dict[str, Any]:
        """Return all that the page shows but the pictures."""
        shelf = self.desk.shelf
        name = site_name(shelf.folder)
        about = {
            "title": f"{name}: what is on these pictures?",
            "classes": shelf.classes,
        }
        found: dict[str, Any] = visible({**about, **self.desk.view()})
        return found

    def picture(self, row: int, side: int) -> str:
        """Return the picture of a row as an address that holds all of it.

        Raises:
            DataError: There is no such row.
            Refused: The file is gone, or was changed for one that cannot be shown.
        """
        file = self.desk.file(row)
        content = read_regular(self.desk.shelf.folder, file)
        array = decode(file, content, self._pixels).array
        return thumbnail(torch.from_numpy(array.copy()), side, quality=95)


@contextmanager
def asking(desk: Desk, pixels: Pixels, port: int = 0) -> Iterator[AskPage]:
    """Serve a desk in the background for a while."""
    with served(AskPage(desk, pixels, port)) as server:
        yield server


class _Handler(LocalHandler):
    server: AskPage

    # Answers change something, so they come as POST; all of one is in its address.
    do_POST = LocalHandler.do_GET

    def answer(self) -> None:
        """Send the page or a picture, or take an answer."""
        token, _, rest = self.path.removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self.send(404, _NOTHING_HERE)
        elif not self._from_here():
            self.send(403, "only the page itself may ask for this")
        else:
            try:
                self._carry_out(rest)
            except Refused as error:
                self.send(410, f"the picture {error}")
            except DataError as error:
                self.send(400, str(error))
            except FedSemiError as error:
                self.send(500, str(error))

    def _from_here(self) -> bool:
        """Tell whether the page or its owner asks, as far as browsers say it."""
        site = self.headers.get("Sec-Fetch-Site", "none")
        if self.command != "POST":
            return site in ("none", "same-origin")
        origins = {f"http://{name}" for name in self.server.names}
        return site == "same-origin" and self.headers.get("Origin") in origins

    def _carry_out(self, rest: str) -> None:
        found = _ADDRESS.fullmatch(rest)
        word, *numbers = found[0].split("/") if found else ["?"]
        kind = "POST" if self.command == "POST" else "GET"
        action = _ACTIONS.get((kind, word, len(numbers)))
        if action is None:
            self.send(404, _NOTHING_HERE)
        else:
            action(self, *map(int, numbers))

    def _page(self) -> None:
        view = self.server.view()
        text = page(view["title"], view, live=True, scripts=_SCRIPTS)
        self.send(200, text, "text/html", policy(live=True, scripts=_SCRIPTS))

    def _picture(self, row: int) -> None:
        self.send(200, self.server.picture(row, _LARGE))

    def _thumbnail(self, row: int) -> None:
        self.send(200, self.server.picture(row, _SMALL))

    def _label(self, row: int, label: int) -> None:
        self.server.desk.answer(row, label)
        self._state()

    def _skip(self, row: int) -> None:
        self.server.desk.skip(row)
        self._state()

    def _undo(self) -> None:
        self._state(at=self.server.desk.undo())

    def _state(self, at: int | None = None) -> None:
        content = {**self.server.view(), "at": at}
        self.send(200, json.dumps(content), "application/json")


_ACTIONS: dict[tuple[str, str, int], Callable[..., None]] = {
    ("GET", "", 0): _Handler._page,
    ("GET", "picture", 1): _Handler._picture,
    ("GET", "thumbnail", 1): _Handler._thumbnail,
    ("POST", "label", 2): _Handler._label,
    ("POST", "skip", 1): _Handler._skip,
    ("POST", "undo", 0): _Handler._undo,
}
"""By kind, word, and how many numbers follow it."""
