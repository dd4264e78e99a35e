"""What all contenders do: the same network on the same images, the same steps.

Nothing here needs more than torch and numpy, so that every environment can import it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fedsemi.models import ModelSpec

SIZE, BATCH, CLASSES = 32, 32, 10
LEARNING_RATE, MOMENTUM, WEIGHT_DECAY = 0.05, 0.9, 5e-4


@dataclass(frozen=True)
class Job:
    """So many rounds with so many clients of so many images each."""

    clients: int
    images: int
    processes: int
    rounds: int

    @property
    def words(self) -> list[str]:
        """Say it on a command line."""
        values = (self.clients, self.images, self.processes, self.rounds)
        return [str(value) for value in values]


class Images:
    """The images of all clients in one file, of which a client reads its part."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._file = np.load(_path(job), mmap_mode="r")

    def __getitem__(self, client: int) -> tuple[Tensor, Tensor]:
        count = self._job.images
        pixels = torch.from_numpy(np.array(self._file[client * count :][:count]))
        labels = (torch.arange(count) + client) % CLASSES
        return (pixels.float() / 255 - 0.5) / 0.25, labels


def write_images(job: Job) -> None:
    """Draw noise; what the pixels show does not change what a round costs."""
    path = _path(job)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        shape = (job.clients * job.images, 3, SIZE, SIZE)
        np.save(path, np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8))


def _path(job: Job) -> Path:
    folder = Path(os.environ["FEDSEMI_PEERS"])
    return folder / "images" / f"{job.clients}x{job.images}.npy"


class Network(nn.Module):
    """ResNet-8 of width 16 that returns logits, as other frameworks want it."""

    def __init__(self) -> None:
        super().__init__()
        self.classifier = ModelSpec("resnet8", CLASSES, 3, 16, SIZE).build(0)

    def forward(self, images: Tensor) -> Tensor:
        """Classify."""
        logits: Tensor = self.classifier(images).logits
        return logits


def optimizer_of(network: nn.Module) -> torch.optim.Optimizer:
    """Plain SGD with momentum, new in each round."""
    return torch.optim.SGD(
        network.parameters(), LEARNING_RATE, MOMENTUM, weight_decay=WEIGHT_DECAY
    )


def learn(network: nn.Module, images: Tensor, labels: Tensor) -> None:
    """Go once through the images in batches."""
    network.train()
    optimizer = optimizer_of(network)
    for index in torch.randperm(len(labels)).split(BATCH):
        loss = F.cross_entropy(network(images[index]), labels[index])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main(run: Callable[[Job], Sequence[float]], version: str) -> None:
    """Run what the command line asks for; print when rounds began and ended."""
    torch.set_num_threads(1)
    job = Job(*map(int, sys.argv[1:5]))
    marks = run(job)
    seconds = [b - a for a, b in pairwise(marks)]
    # The first round of several also starts processes and fills caches.
    later = seconds[-max(1, job.rounds - 1) :]
    if os.environ.get("RANK", "0") == "0":  # a launcher starts several of these
        print(json.dumps({"seconds": later, "version": version}), flush=True)


now = time.perf_counter
