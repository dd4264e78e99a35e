"""What grids have in common that carry one run without a SuperLink."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

from flwr.app import Message, RecordDict
from flwr.serverapp import Grid
from flwr.supercore.run import Run
from flwr.supercore.task_identity import TaskIdentity

RUN = 1


class OneRunGrid(Grid):
    """Makes messages of one run; how they travel is the business of others."""

    def __init__(self) -> None:
        # Flower 1.41 stamps messages with the identity of the running task.
        TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = RUN, 0, RUN

    def set_run(self, run: Run) -> None:
        """Do nothing: there is one run."""

    @property
    def run(self) -> Run:
        """There is no run record here."""
        raise NotImplementedError("a grid without a SuperLink has no run record")

    def create_message(
        self,
        content: RecordDict,
        message_type: str,
        dst_node_id: int,
        group_id: str,
        ttl: float | None = None,
    ) -> Message:
        """Make a message."""
        return Message(content, dst_node_id, message_type, ttl=ttl, group_id=group_id)

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        """Send messages; return the names by which their replies are asked for."""
        ids = []
        for message in messages:
            id = message.object_id
            message.metadata.__dict__["_message_id"] = id
            self._push(id, message)
            ids.append(id)
        return ids

    @abstractmethod
    def _push(self, id: str, message: Message) -> None:
        """Send one message, whose reply belongs to this id."""
