"""A SuperLink's answers to a ServerApp that pulls replies, without a SuperLink."""

from __future__ import annotations

from copy import copy
from types import SimpleNamespace

from flwr.app import Message, RecordDict
from flwr.app.message.message import remove_content_from_message
from flwr.common.serde import message_to_proto
from flwr.proto.message_pb2 import ObjectTree
from flwr.supercore.inflatable.inflatable_object import (
    get_all_nested_objects,
    no_object_id_recompute,
)
from flwr.supercore.run import Run
from flwr.supercore.task_identity import TaskIdentity
from flwr.superlink.grid.http_grid import HttpGrid

QUESTION = "question"


def answer(content: RecordDict) -> Message:
    """Make the reply to a question."""
    TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 0, 1
    asked = Message(RecordDict(), 3, "train")
    asked.metadata.__dict__["_message_id"] = QUESTION
    return Message(content, reply_to=asked)


class FakeLink:
    """Holds one reply as the parts that a site has uploaded."""

    def __init__(self, content: RecordDict) -> None:
        reply = answer(content)
        with no_object_id_recompute():
            objects = get_all_nested_objects(reply)
            self.parts = {id: part.deflate() for id, part in objects.items()}
        self.id = reply.object_id
        self.names = list(self.parts)
        self.missing: set[str] = set()
        """Parts that are announced and not there yet."""
        self.confirmed = 0
        self._reply = message_to_proto(remove_content_from_message(reply))
        self._reply.metadata.message_id = self.id

    def copy(self) -> FakeLink:
        twin = copy(self)
        twin.parts = dict(self.parts)
        return twin

    def grid(self) -> HttpGrid:
        grid = HttpGrid(token="secret")
        grid.set_run(Run.create_empty(1))
        grid._client = self
        return grid

    def PullMessages(self, request):
        assert list(request.message_ids) == [QUESTION]
        children = [ObjectTree(object_id=name) for name in self.names]
        tree = ObjectTree(object_id=self.id, children=children)
        return SimpleNamespace(messages_list=[self._reply], message_object_trees=[tree])

    def PullObject(self, request):
        id = request.object_id
        return SimpleNamespace(
            object_found=id in self.parts,
            object_available=id not in self.missing,
            object_content=self.parts.get(id, b""),
        )

    def ConfirmMessageReceived(self, request):
        self.confirmed += 1
