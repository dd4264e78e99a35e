"""A few labels of each class: at every client (LAC), or at the server alone (LS).

Who owns which images is dealt out as ever; only then is it drawn which of them have
labels, so that cards can be compared on the same clients.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from fedsemi.data.partition import ClientIndex, Partition
from fedsemi.data.schemes import Rows
from fedsemi.errors import DataError

_NO_ROWS: Rows = np.empty(0, dtype=np.int64)


def at_every_client(
    partition: Partition, labels: npt.ArrayLike, per_class: int, seed: int
) -> Partition:
    """Leave each client labels of so many images of a class, of all if it has fewer.

    >>> dealt = Partition((ClientIndex(np.arange(6), _NO_ROWS),))
    >>> labels = [0, 0, 0, 1, 1, 1]
    >>> (client,) = at_every_client(dealt, labels, per_class=2, seed=0).clients
    >>> len(client.labeled), len(client.unlabeled)
    (4, 2)
    """
    truth = np.asarray(labels, dtype=np.int64)
    draws = np.random.default_rng([seed, 2])
    return Partition(
        tuple(
            ClientIndex(*_drawn(client.rows, truth, per_class, draws))
            for client in partition.clients
        )
    )


def at_server(
    labels: npt.ArrayLike,
    per_class: int,
    seed: int,
    deal: Callable[[Rows], Partition],
) -> Partition:
    """Give the server, which comes first, its labels; deal out the rest without any.

    Args:
        labels: The class of each training image.
        per_class: How many of each class the server gets.
        seed: Of the draw.
        deal: Makes a partition of the rest, given its classes.
    """
    truth = np.asarray(labels, dtype=np.int64)
    classes, count = np.unique(truth, return_counts=True)
    if count.min() <= per_class:
        raise DataError(
            f"setting.labels_per_class = {per_class}, but class "
            f"{classes[count.argmin()]} has {count.min()} images, and clients need "
            "some; use fewer labels or more images",
            code="FS3010",
        )
    draws = np.random.default_rng([seed, 3])
    own, rest = _drawn(np.arange(len(truth)), truth, per_class, draws)
    clients = deal(truth[rest]).clients
    return Partition(
        (
            ClientIndex(own, _NO_ROWS),
            *(ClientIndex(_NO_ROWS, rest[client.rows]) for client in clients),
        )
    )


def _drawn(
    rows: Rows, truth: Rows, per_class: int, rng: np.random.Generator
) -> tuple[Rows, Rows]:
    """Split rows into those with labels and the others, both in the order given."""
    labeled = np.zeros(len(rows), dtype=bool)
    for label in np.unique(truth[rows]):
        members = np.flatnonzero(truth[rows] == label)
        labeled[rng.permutation(members)[:per_class]] = True
    return rows[labeled], rows[~labeled]
