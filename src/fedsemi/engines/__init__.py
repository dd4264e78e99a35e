"""Engines: where tasks are carried out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fedsemi.data.client import Client
from fedsemi.engines.in_process import InProcess
from fedsemi.engines.workers import FEW, Workers
from fedsemi.method import Method

__all__ = ["InProcess", "Workers", "local_engine"]


def local_engine(
    method: Method[Any], clients: Sequence[Client], workers: int = 1
) -> InProcess | Workers:
    """Run clients on this machine: in this process, or in several workers.

    Many clients go to a worker even if it is the only one: their answers then wait on
    disk for the mean, and memory does not grow with their number.
    """
    if workers == 1 and len(clients) <= FEW:
        return InProcess(method, clients)
    return Workers(method, clients, workers)
