"""Images on their way to a device, which is made up."""

from __future__ import annotations

from typing import Any

import torch

from fedsemi.data.transfer import sent_to


class Picture:
    """Notes what is done to it."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    def pin_memory(self) -> Picture:
        self.done.append("pinned")
        return self

    def to(self, device: str, non_blocking: bool = False) -> Picture:
        self.done.append((device, non_blocking))
        return self


def test_nobody_waits_until_a_gpu_has_its_images() -> None:
    picture: Any = Picture()
    sent_to("cuda:1", picture)
    assert picture.done == ["pinned", ("cuda:1", True)]


def test_images_for_the_processor_stay_where_they_are() -> None:
    images = torch.zeros(2, 3, 4, 4, dtype=torch.uint8)
    assert sent_to("cpu", images) is images
