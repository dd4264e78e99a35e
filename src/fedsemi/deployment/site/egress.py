"""What has left a site: a line for each field of each answer, with its hash."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flwr.app import ArrayRecord, Message, RecordDict

from fedsemi.deployment.codec import decode_tensors, size_of
from fedsemi.deployment.site import journal
from fedsemi.weights import digest, num_bytes

EGRESS = "egress.jsonl"
_WHOLE = "weights"
"""A record that is one field: sixty lines for the tensors of a network help nobody."""
_UNNAMED = "update"
"""A record whose fields are called by their own names, as `fedsemi wire` does."""


def log_reply(folder: Path, plan: str, asked: Message, content: RecordDict) -> None:
    """Note every field of an answer before it is handed over.

    A kill in between leaves a note of something that was not sent, never the other way.

    Args:
        folder: The site's.
        plan: The plan that came with the run.
        asked: What the coordinator sent.
        content: What the site answers.
    """
    about = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "plan": hashlib.sha256(plan.encode()).hexdigest()[:12],
        **_address(asked),
    }
    fields = [
        {**about, "field": name, "bytes": size, "sha256": sha256}
        for name, size, sha256 in _fields(content)
    ]
    with journal.opened(folder / EGRESS) as log:
        log.add(*fields)


def read_log(folder: Path) -> list[dict[str, Any]]:
    """Read what has left a site."""
    return journal.read(folder / EGRESS)


def _address(asked: Message) -> dict[str, Any]:
    """Say what was asked for; stage and round count from one, as in all lists."""
    task = asked.content.get("task")
    numbers = dict(task) if task is not None else {}
    found = {name: numbers.get(name) for name in ("stage", "round", "group")}
    return {
        name: value + (name != "group") if type(value) is int else None
        for name, value in found.items()
    }


def _fields(content: RecordDict) -> Iterator[tuple[str, int, str]]:
    for name, record in content.items():
        if isinstance(record, ArrayRecord):
            tensors = decode_tensors(record)
            parts = (
                {name: tensors}
                if name == _WHOLE
                else {f"{name}.{key}": {key: value} for key, value in tensors.items()}
            )
            for field, part in parts.items():
                yield field, num_bytes(part), digest(part)
            continue
        for key, value in record.items():
            field = key if name == _UNNAMED else f"{name}.{key}"
            raw = value if isinstance(value, bytes) else json.dumps(value).encode()
            yield field, size_of(value), hashlib.sha256(raw).hexdigest()
