"""A simulated federation: a data set dealt out to clients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch

from fedsemi.data.client import Client
from fedsemi.data.dataset import Dataset, ImageSet
from fedsemi.data.held_out import hold_out
from fedsemi.data.partition import ClientIndex, Partition
from fedsemi.errors import DataError
from fedsemi.simulation.oracle import Oracle


@dataclass(frozen=True, eq=False)
class Federation:
    """Clients, a test set, and the oracle that knows what they do not."""

    clients: tuple[Client, ...]
    test: ImageSet
    class_names: tuple[str, ...]
    oracle: Oracle | None = None
    held_out: Mapping[int, ImageSet] = field(default_factory=dict)
    """Labeled images that clients do not learn from, by client id."""

    def without(self, client: int) -> Federation:
        """Leave one client out, with what it held out; the others keep their ids."""
        if client not in {c.id for c in self.clients}:
            raise DataError(f"there is no client {client} to leave out", code="FS3013")
        return replace(
            self,
            clients=tuple(c for c in self.clients if c.id != client),
            held_out={id: kept for id, kept in self.held_out.items() if id != client},
        )


def make_federation(
    dataset: Dataset,
    partition: Partition,
    validation_fraction: float = 0.0,
    seed: int = 0,
) -> Federation:
    """Deal the training images out; labels go only where the partition says so."""
    groups = None if dataset.groups is None else dataset.groups.numpy()
    clients, held_out = [], {}
    for id, index in enumerate(partition.clients):
        learned, kept = hold_out(index.labeled, groups, validation_fraction, seed, id)
        clients.append(_client(id, dataset.train, replace(index, labeled=learned)))
        if len(kept):
            held_out[id] = dataset.train.take(kept)
    truth = {
        id: dataset.train.labels[torch.from_numpy(index.unlabeled)]
        for id, index in enumerate(partition.clients)
    }
    return Federation(
        tuple(clients), dataset.test, dataset.class_names, Oracle(truth), held_out
    )


def _client(id: int, train: ImageSet, index: ClientIndex) -> Client:
    labeled = train.take(index.labeled)
    unlabeled_images = train.images[torch.from_numpy(index.unlabeled)]
    return Client(id, labeled.images, labeled.labels, unlabeled_images)
