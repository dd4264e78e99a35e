"""Send messages over a grid and collect what comes back before a deadline."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import httpx
from flwr.app import ConfigRecord, Message, RecordDict
from flwr.serverapp import Grid

from fedsemi.deployment.coordinator.door import OperatorGrid
from fedsemi.deployment.coordinator.inbox import Inbox
from fedsemi.deployment.folding import folded, unfolded
from fedsemi.deployment.standing import EXCUSES
from fedsemi.errors import FedSemiError
from fedsemi.text.printable import printable

logger = logging.getLogger("fedsemi.flower")
K = TypeVar("K")
T = TypeVar("T")

_PAUSE = 0.5
SPARE_BYTES = 1 << 20
"""What an answer may hold beside tensors like those that were sent."""
AWAY = "FS5002"
LATE = "FS2203"
BROKEN_OFF = "FS5031"
REFUSED = "FS5032"


@dataclass(frozen=True)
class Refusal:
    """Why there is no answer; the reason is fit to be printed."""

    code: str
    reason: str

    def __str__(self) -> str:
        return f"{self.code} {self.reason}"


OTHER_TASK = Refusal("FS2106", "the answer is to another task")


class Post(dict[K, T]):
    """Answers by key; `refused` says why others are missing, `lost` which to repeat."""

    def __init__(self) -> None:
        super().__init__()
        self.refused: dict[K, Refusal] = {}
        self.lost: set[K] = set()


def exchange(
    grid: Grid,
    letters: Mapping[K, tuple[int, RecordDict]],
    kind: str,
    decode: Callable[[RecordDict], T],
    deadline: float,
    limit: int = SPARE_BYTES,
) -> Post[K, T]:
    """Send one letter to a node per key; return at the deadline or when all answered.

    A bad answer is refused, never fatal. `deadline` is on the monotonic clock, `limit`
    the most bytes of an answer.
    """
    post: Post[K, T] = Post()
    waiting: dict[str, K] = {}
    for key, (node, content) in letters.items():
        ttl = max(deadline - time.monotonic(), 1.0)
        if isinstance(grid, OperatorGrid):
            content = folded(content)
        for id in _sent(grid, Message(content, node, kind, ttl=ttl)):
            waiting[id] = key
    for key in letters.keys() - set(waiting.values()):
        post.refused[key] = Refusal(AWAY, "the task could not be sent")
        post.lost.add(key)
    inbox = Inbox(grid, limit)
    while waiting:
        _look(inbox, waiting)
        for id, key in list(waiting.items()):
            if _received(inbox, id, key, decode, post):
                del waiting[id]
        if time.monotonic() > deadline:
            break
        if waiting:
            _rest(grid, deadline - time.monotonic())
    for key in waiting.values():
        post.refused[key] = Refusal(LATE, "no answer before the deadline")
    return post


def _look(inbox: Inbox, ids: Iterable[str]) -> None:
    """Ask for all answers at once."""
    try:
        inbox.look(ids)
    except httpx.HTTPError as error:
        _busy(error)


def _rest(grid: Grid, seconds: float) -> None:
    """Wait until something may have come."""
    if isinstance(grid, OperatorGrid):
        try:
            return grid.await_news(seconds)
        except httpx.HTTPError as error:
            _busy(error)
    time.sleep(_PAUSE)


def _sent(grid: Grid, message: Message) -> list[str]:
    # One at a time: a request must stay small enough for a proxy's body limit.
    try:
        return [id for id in grid.push_messages([message]) if id]
    except httpx.HTTPError as error:
        _busy(error)
        return []


def _received(
    inbox: Inbox,
    id: str,
    key: K,
    decode: Callable[[RecordDict], T],
    post: Post[K, T],
) -> bool:
    """Look for one answer; say whether there is one, good or bad."""
    try:
        found = read(lambda: inbox.take(id), decode)
    except httpx.HTTPError as error:
        _busy(error)
        return False
    if isinstance(found, Refusal):
        post.refused[key] = found
        if found.code == BROKEN_OFF:
            post.lost.add(key)
    elif found is not None:
        post[key] = found
    return found is not None


def read(
    fetch: Callable[[], Message | None], decode: Callable[[RecordDict], T]
) -> T | Refusal | None:
    """Fetch an answer and read it; None if there is none yet.

    Whatever a site has sent, only the grid's own connection can raise here.
    """
    try:
        reply = fetch()
        return None if reply is None else _opened(reply, decode)
    except httpx.HTTPError:
        raise
    except FedSemiError as error:
        return Refusal(error.code, printable(str(error.args[0])))
    except Exception as error:
        # A stranger made these bytes, and a dozen libraries read them: whatever they
        # raise, it is the one site's answer that is bad, and no reason to stop.
        kind = type(error).__name__
        return Refusal("FS2105", f"the answer is unreadable ({kind})")


def _opened(reply: Message, decode: Callable[[RecordDict], T]) -> T | Refusal:
    if reply.has_error():
        said = printable(reply.error.reason or "no reason given")
        return Refusal(BROKEN_OFF, f"the site broke the task off: {said}")
    content = unfolded(reply.content)
    failure = content.get("failure")
    if isinstance(failure, ConfigRecord):
        said = printable(str(failure.get("reason")))
        if failure.get("code") in EXCUSES:
            code = str(failure["code"])
            return Refusal(code, said.removeprefix(f"{code} "))
        return Refusal(REFUSED, f"the site says: {said}")
    return decode(content)


def _busy(error: httpx.HTTPError) -> None:
    """A SuperLink that is busy for a moment must not end the run."""
    said = printable(str(error))
    logger.warning("the SuperLink did not answer, trying again: %s", said)
