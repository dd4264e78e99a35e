"""Fixtures that many tests share: a small federation on which everything can run."""

from __future__ import annotations

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Promise bits per thread count, so pin the count."""
    torch.set_num_threads(1)
