"""What a forward pass costs, counted by hand."""

from __future__ import annotations

from fedsemi.models import ModelSpec
from fedsemi.models.cost import multiply_adds


def test_the_small_network_multiplies_twelve_million_times() -> None:
    # Convolutions of resnet8 (width 16) at 32x32, stage by stage, and the head.
    stem, first = 3 * 16 * 9 * 1024, 2 * 16 * 16 * 9 * 1024
    second = (16 * 32 * 9 + 32 * 32 * 9 + 16 * 32) * 256
    third = (32 * 64 * 9 + 64 * 64 * 9 + 32 * 64) * 64
    spec = ModelSpec("resnet8", 10)
    assert multiply_adds(spec, 32) == stem + first + second + third + 640
