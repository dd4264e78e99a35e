"""Which of several GPUs a worker computes on."""

from __future__ import annotations

from typing import Any

import torch


def deal(device: str, worker: int, cuda: Any = torch.cuda) -> None:
    """Let "cuda" mean one of the GPUs in this process, another one in the next worker.

    Whoever names a GPU, as in "cuda:1", gets it in all workers.

    Args:
        device: What the experiment says.
        worker: The worker's number, from zero.
        cuda: Where the GPUs are.
    """
    if device == "cuda" and (count := cuda.device_count()):
        cuda.set_device(worker % count)
