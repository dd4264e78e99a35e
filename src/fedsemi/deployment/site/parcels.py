"""A letter of the coordinator and its answer, as they go between a site's processes.

The process that holds the connection knows them in parts, as bytes; only the one that
answers a letter puts it together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flwr.app import ConfigRecord, Message, RecordDict
from flwr.app.message import remove_content_from_message
from flwr.common.serde import message_to_proto
from flwr.supercore.inflatable.inflatable_object import (
    get_all_nested_objects,
    get_object_tree,
    no_object_id_recompute,
)
from flwr.supercore.inflatable.inflatable_utils import inflate_object_from_contents
from flwr.supercore.task_identity import TaskIdentity

from fedsemi.deployment.folding import folded, unfolded
from fedsemi.deployment.standing import EXCUSES
from fedsemi.errors import ProtocolError


@dataclass(frozen=True)
class Letter:
    """What the coordinator asks, with what its run was told and has brought."""

    id: str
    parts: dict[str, bytes]
    run: int
    node: int
    settings: dict[str, Any]
    bundle: bytes

    def opened(self) -> Message:
        """Put the letter together, in the process that answers it."""
        identify(self.run, self.node)
        message = inflate_object_from_contents(self.id, dict(self.parts))
        if not isinstance(message, Message):
            raise ProtocolError("what came is no message", code="FS2105")
        message.metadata.__dict__["_message_id"] = self.id
        message.content = unfolded(message.content)
        return message


@dataclass(frozen=True)
class Reply:
    """What a site answers."""

    head: bytes
    """The message without its content."""
    outline: bytes
    """Which part belongs to which."""
    parts: dict[str, bytes]
    """Children before those that they belong to."""
    excused: bool
    """Whether it says that the site takes no part."""

    @classmethod
    def of(cls, message: Message) -> Reply:
        """Take an answer apart."""
        excused = message.has_content() and _is_excuse(message.content)
        if message.has_content():
            message.content = folded(message.content)
        message.metadata.__dict__["_message_id"] = message.object_id
        with no_object_id_recompute():
            found = get_all_nested_objects(message)
            return cls(
                message_to_proto(
                    remove_content_from_message(message)
                ).SerializeToString(),
                get_object_tree(message).SerializeToString(),
                {name: each.deflate() for name, each in found.items()},
                excused,
            )


def _is_excuse(content: RecordDict) -> bool:
    failure = content.get("failure")
    return isinstance(failure, ConfigRecord) and failure.get("code") in EXCUSES


def identify(run: int, node: int) -> None:
    """Let messages that are made in this process say whose they are."""
    TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = run, node, 0
