"""What a method needs of a federation, checked before the first round."""

from __future__ import annotations

from collections.abc import Sequence

from fedsemi.errors import ProtocolError
from fedsemi.messages import ClientInfo


def need_labels(method: str, clients: Sequence[ClientInfo]) -> None:
    """Refuse a federation in which nobody has labels."""
    if not any(client.num_labeled for client in clients):
        raise ProtocolError(
            f"{method} needs a client with labels, and none of the {len(clients)} "
            "clients has any; set partition.labeled_clients or labeled_fraction",
            code="FS2121",
        )


def need_unlabeled(method: str, clients: Sequence[ClientInfo]) -> None:
    """Refuse a federation in which everything is labeled."""
    if not any(client.num_unlabeled for client in clients):
        raise ProtocolError(
            f"{method} needs a client with unlabeled images, and none of the "
            f"{len(clients)} clients has any; use supervised instead",
            code="FS2122",
        )
