"""FedLab's serial trainer and synchronous server, in one process."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Any
from unittest.mock import MagicMock

try:
    import torchvision  # noqa: F401
except (ImportError, RuntimeError):  # it is imported, but a round does not use it
    for name in ("", ".transforms", ".transforms.functional", ".datasets", ".models"):
        sys.modules[f"torchvision{name}"] = MagicMock()

from fedlab.contrib.algorithm.basic_client import SGDSerialClientTrainer
from fedlab.contrib.algorithm.basic_server import SyncServerHandler
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.peers.work import (
    BATCH,
    LEARNING_RATE,
    Images,
    Job,
    Network,
    main,
    now,
)


class Clients:
    """Data as its trainer asks for them."""

    def __init__(self, job: Job) -> None:
        self._images = Images(job)

    def get_dataloader(self, id: int, batch_size: int) -> DataLoader[Any]:
        """Batches of one client."""
        return DataLoader(
            TensorDataset(*self._images[id]), batch_size=batch_size, shuffle=True
        )


def run(job: Job) -> list[float]:
    """Let all clients take part in each round."""
    server = SyncServerHandler(Network(), job.rounds, 1.0)
    server.num_clients = job.clients
    trainer = SGDSerialClientTrainer(Network(), job.clients, cuda=False)
    trainer.setup_dataset(Clients(job))
    trainer.setup_optim(1, BATCH, LEARNING_RATE)
    marks = [now()]
    for _ in range(job.rounds):
        trainer.local_process(server.downlink_package, list(range(job.clients)))
        for pack in trainer.uplink_package:
            server.load(pack)
        marks.append(now())
    return marks


if __name__ == "__main__":
    main(run, version("fedlab"))
