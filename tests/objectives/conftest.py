"""The small setup and clients of the tests of methods, for objectives."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from fedsemi.data.augment import Views
from fedsemi.data.client import Client
from fedsemi.local import LocalTraining, Setup
from fedsemi.models import ModelSpec


@pytest.fixture
def tiny_setup() -> Setup:
    """Make the smallest network with its views."""
    views = Views(8, 10, (0.5, 0.5, 0.5), (0.25, 0.25, 0.25))
    model = ModelSpec("resnet8", 3, width=2, image_size=8)
    return Setup(model, views, LocalTraining(batch_size=8))


@pytest.fixture
def make_client() -> Callable[[int, int, int], Client]:
    """Make a client of black images with (id, labels, unlabeled images)."""

    def make(id: int, num_labeled: int, num_unlabeled: int) -> Client:
        images = torch.zeros(num_labeled + num_unlabeled, 3, 8, 8, dtype=torch.uint8)
        labels = torch.zeros(num_labeled, dtype=torch.long)
        return Client(id, images[:num_labeled], labels, images[num_labeled:])

    return make
