"""Which test images a model gets right, and what two models differ by on them."""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

Right = npt.NDArray[np.bool_]
_NORMAL = 1.959964
"""Deviations of a normal curve that hold 95 % of it."""


def packed(probs: Tensor, labels: Tensor) -> dict[str, Any]:
    """Keep a bit for each test image: whether its class was found."""
    right = (probs.argmax(1) == labels).numpy()
    return {"num": len(right), "bits": b64encode(np.packbits(right).tobytes()).decode()}


def unpacked(content: Mapping[str, Any] | None) -> Right | None:
    """Read what `packed` wrote; None where older versions wrote nothing."""
    if not content:
        return None
    bits = np.frombuffer(b64decode(content["bits"]), dtype=np.uint8)
    return np.unpackbits(bits, count=content["num"]).astype(bool)


def paired_interval(ours: Right, other: Right) -> tuple[float, float]:
    """Return the 95 % interval of the difference in accuracy on the same images.

    Only images that one model gets right and the other does not say anything. Half an
    image is added to each of the four cases (Agresti and Min, Statistics in Medicine
    2005), without which few such images would look like certainty.
    """
    gained = float((ours & ~other).sum()) + 0.5
    lost = float((other & ~ours).sum()) + 0.5
    total = len(ours) + 2.0
    mean = (gained - lost) / total
    variance = (gained + lost - (gained - lost) ** 2 / total) / total**2
    reach = _NORMAL * math.sqrt(variance)
    return mean - reach, mean + reach
