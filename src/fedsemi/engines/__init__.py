"""Engines: where tasks are carried out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fedsemi.data.client import Client
from fedsemi.engines.in_process import InProcess
from fedsemi.engines.workers import Workers
from fedsemi.method import Method

__all__ = ["InProcess", "Workers", "local_engine"]


def local_engine(
    method: Method[Any], clients: Sequence[Client], workers: int = 1
) -> InProcess | Workers:
    """Run clients on this machine: in this process, or in several workers."""
    if workers == 1:
        return InProcess(method, clients)
    return Workers(method, clients, workers)
