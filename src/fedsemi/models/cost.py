"""What a forward pass costs."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fedsemi.models import ModelSpec


def multiply_adds(model: ModelSpec, side: int) -> int:
    """Count the multiplications of a forward pass on one image of this side."""
    counts: list[int] = []

    def count(layer: nn.Module, _: object, output: Tensor) -> None:
        counts.append(layer.get_parameter("weight").numel() * output[0, 0].numel())

    network = model.empty().eval()
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            layer.register_forward_hook(count)
    with torch.inference_mode():
        network(torch.zeros(1, model.in_channels, side, side))
    return sum(counts)
