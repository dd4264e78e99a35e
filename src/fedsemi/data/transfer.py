"""How images get to where they are computed with."""

from __future__ import annotations

from torch import Tensor


def sent_to(device: str, images: Tensor) -> Tensor:
    """Bring images to a device; nobody waits for a GPU to receive them.

    A GPU copies by itself what lies in pinned memory, while this process makes the next
    views. For the processor's own memory there is nothing to do.
    """
    if device.startswith("cuda"):
        return images.pin_memory().to(device, non_blocking=True)
    return images.to(device)
