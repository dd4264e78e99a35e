"""Read JSON that may be anybody's: whatever is wrong with it is a ValueError."""

from __future__ import annotations

import json
from typing import Any

MAX_DEPTH = 100
"""Far more than any file of ours, far less than what a recursion stumbles over."""


def parsed(content: str | bytes) -> Any:
    """Parse JSON; bytes that are not UTF-8 and endless nesting are wrong, too.

    >>> parsed(b'{"round": 1}')
    {'round': 1}
    >>> parsed("[" * 100_000)
    Traceback (most recent call last):
    ...
    ValueError: it is nested too deeply
    """
    try:
        found = json.loads(content)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if _openings(content) > MAX_DEPTH:
        _check_depth(found)
    return found


def parsed_object(content: str | bytes) -> dict[str, Any]:
    """Parse JSON that must be an object."""
    found = parsed(content)
    if not isinstance(found, dict):
        raise ValueError(f"it holds a {type(found).__name__}, not an object")
    return found


def _openings(content: str | bytes) -> int:
    """Count brackets: no value is nested deeper than that, and most are not at all."""
    if isinstance(content, bytes):
        return content.count(b"{") + content.count(b"[")
    return content.count("{") + content.count("[")


def _check_depth(found: Any) -> None:
    """Walk level by level, without recursion, as the depth is in question."""
    level: list[Any] = [found]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise ValueError("it is nested too deeply")
