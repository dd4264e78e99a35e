"""Send messages over a grid and collect what comes back before a deadline."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import httpx
from flwr.app import ConfigRecord, Message, RecordDict
from flwr.serverapp import Grid

from fedsemi.errors import FedSemiError

logger = logging.getLogger("fedsemi.flower")
K = TypeVar("K")
T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")

_PAUSE = 0.5


class Post(dict[K, T]):
    """Answers by key; `refused` says why others are missing, `lost` which to repeat."""

    def __init__(self) -> None:
        super().__init__()
        self.refused: dict[K, str] = {}
        self.lost: set[K] = set()


def exchange(
    grid: Grid,
    letters: Mapping[K, tuple[int, RecordDict]],
    kind: str,
    decode: Callable[[RecordDict], T],
    deadline: float,
) -> Post[K, T]:
    """Send one letter to a node per key; return at the deadline or when all answered.

    A bad answer is refused, never fatal. `deadline` is on the monotonic clock.
    """
    post: Post[K, T] = Post()
    waiting: dict[str, K] = {}
    for key, (node, content) in letters.items():
        ttl = max(deadline - time.monotonic(), 1.0)
        # One at a time: a request must stay small enough for a proxy's body limit.
        for id in _tried(grid.push_messages, [Message(content, node, kind, ttl=ttl)]):
            waiting[id] = key
    for key in letters.keys() - set(waiting.values()):
        post.refused[key] = "FS5002 the task could not be sent"
        post.lost.add(key)
    while waiting:
        for reply in _tried(grid.pull_messages, list(waiting)):
            key = waiting.pop(reply.metadata.reply_to_message_id)
            _open(reply, key, decode, post)
        if time.monotonic() > deadline:
            break
        if waiting:
            time.sleep(_PAUSE)
    for key in waiting.values():
        post.refused[key] = "FS2203 no answer before the deadline"
    return post


def _tried(step: Callable[[list[A]], Iterable[B]], items: list[A]) -> Iterable[B]:
    """Do one step; a SuperLink that is busy for a moment must not end the run."""
    try:
        return step(items)
    except httpx.HTTPError as error:
        logger.warning("the SuperLink did not answer, trying again: %s", error)
        return []


def _open(
    reply: Message, key: K, decode: Callable[[RecordDict], T], post: Post[K, T]
) -> None:
    if reply.has_error():
        post.refused[key] = f"FS5002 {reply.error.reason or 'the site is gone'}"
        post.lost.add(key)
        return
    failure = reply.content.get("failure")
    if isinstance(failure, ConfigRecord):
        post.refused[key] = f"the site says: {str(failure.get('reason'))[:300]}"
        return
    try:
        post[key] = decode(reply.content)
    except FedSemiError as error:
        post.refused[key] = str(error)
