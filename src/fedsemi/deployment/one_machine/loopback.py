"""A grid without a network: messages are answered on the spot, in this process."""

from __future__ import annotations

from collections.abc import Iterable

from flwr.app import Context, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid
from flwr.supercore.run import Run
from flwr.supercore.task_identity import TaskIdentity

_RUN = 1


class LoopbackGrid(Grid):
    """Nodes 1 to n, each answering with the same ClientApp and a partition of its own.

    For the tests and the benchmark of deployments: all of Flower's records, none of its
    transport.
    """

    def __init__(self, app: ClientApp, num_nodes: int) -> None:
        # Flower 1.41 stamps messages with the identity of the running task.
        TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = _RUN, 0, _RUN
        self._app = app
        self._replies: dict[str, Message] = {}
        self._contexts = {
            node: Context(_RUN, node, {"partition-id": node - 1}, RecordDict(), {})
            for node in range(1, num_nodes + 1)
        }

    def set_run(self, run: Run) -> None:
        """Do nothing: there is one run."""

    @property
    def run(self) -> Run:
        """There is no run record here."""
        raise NotImplementedError("a loopback grid has no run record")

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

    def get_node_ids(self) -> Iterable[int]:
        """List the nodes."""
        return list(self._contexts)

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        """Answer messages at once and keep the replies."""
        ids = []
        for message in messages:
            id = message.object_id
            message.metadata.__dict__["_message_id"] = id
            self._replies[id] = self.answer(message)
            ids.append(id)
        return ids

    def answer(self, message: Message) -> Message:
        """Let the addressed node answer."""
        context = self._contexts[message.metadata.dst_node_id]
        return self._app(message, context)

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        """Hand out the replies."""
        return [self._replies.pop(id) for id in message_ids if id in self._replies]

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> Iterable[Message]:
        """Answer messages at once."""
        return self.pull_messages(self.push_messages(messages))
