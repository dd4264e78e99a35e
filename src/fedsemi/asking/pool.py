"""What a model says of pictures, for rules to rank them by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from fedsemi.asking.rules import Floats
from fedsemi.use.deployed import Deployed
from fedsemi.use.predict import Model

BATCH = 128

Said = tuple[Floats, Floats]
"""Probabilities [N, C] and features [N, d]; without an encoder at hand d is 0."""


def said(model: Model, images: Tensor) -> Said:
    """Let a model look at pictures.

    Args:
        model: Of a run, or an exported one, which shows no features.
        images: uint8 [N, channels, size, size].
    """
    parts = [_said(model, batch) for batch in torch.split(images, BATCH)]
    return joined([(_table(probs), _table(features)) for probs, features in parts])


def joined(parts: Sequence[Said]) -> Said:
    """Put what was said of several batches together."""
    probs, features = zip(*parts, strict=True)
    return np.concatenate(probs), np.concatenate(features)


@torch.inference_mode()
def _said(model: Model, images: Tensor) -> tuple[Tensor, Tensor]:
    if isinstance(model, Deployed):
        output = model.output(images)
        return output.logits.softmax(1), output.feature
    return model(images), torch.empty(len(images), 0)


def _table(values: Tensor) -> Floats:
    return values.double().cpu().numpy()
