"""EfficientNet-Lite0: its size, its borders, and weights of ImageNet if installed."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from fedsemi.models import ModelSpec
from fedsemi.models.efficientnet_lite import EfficientNetLite0, SamePad


def test_it_has_the_weights_of_the_published_network():
    # 4.65 million with a head for 1,000 classes, Table of the Lite variants.
    model = ModelSpec("efficientnet-lite0", num_classes=1000).empty()
    assert sum(p.numel() for p in model.parameters()) == 4_652_008
    assert len([m for m in model.modules() if isinstance(m, nn.Conv2d)]) == 49


@pytest.mark.parametrize(
    ("side", "kernel", "before", "after"),
    [(96, 3, 0, 1), (97, 3, 1, 1), (12, 5, 1, 2), (3, 5, 2, 2)],
)
def test_a_border_is_as_tensorflow_has_it(side, kernel, before, after):
    # covered = (ceil(side / 2) - 1) * 2 + kernel; the odd pixel goes to the end.
    padded = SamePad(kernel, 2)(torch.ones(1, 1, side, side))
    assert padded.shape[-1] == side + before + after
    assert float(padded[0, 0, :before].sum()) == 0
    assert float(padded[0, 0, before, before]) == 1


@pytest.mark.parametrize("side", [33, 64, 96])
def test_any_side_gives_1280_features_that_are_not_negative(side):
    encoder = EfficientNetLite0().eval()
    with torch.inference_mode():
        found = encoder(torch.randn(2, 3, side, side))
    assert found.shape == (2, 1280)
    assert float(found.min()) >= 0
    assert encoder.signed_features is False
