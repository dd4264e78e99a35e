"""A grid without a network: messages are answered on the spot, in this process."""

from __future__ import annotations

from collections.abc import Iterable

from flwr.app import Context, Message, RecordDict
from flwr.clientapp import ClientApp

from fedsemi.deployment.one_run_grid import RUN, OneRunGrid


class LoopbackGrid(OneRunGrid):
    """Nodes 1 to n, each answering with the same ClientApp and a partition of its own.

    For the tests and the benchmark of deployments: all of Flower's records, none of its
    transport.
    """

    def __init__(self, app: ClientApp, num_nodes: int) -> None:
        super().__init__()
        self._app = app
        self._replies: dict[str, Message] = {}
        self._contexts = {
            node: Context(RUN, node, {"partition-id": node - 1}, RecordDict(), {})
            for node in range(1, num_nodes + 1)
        }

    def get_node_ids(self) -> Iterable[int]:
        """List the nodes."""
        return list(self._contexts)

    def _push(self, id: str, message: Message) -> None:
        self._replies[id] = self.answer(message)

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
