"""Made images for tests, docs and first runs: four patterns in noisy colors."""

from __future__ import annotations

import numpy as np

from fedsemi.data.dataset import Dataset, channel_statistics
from fedsemi.data.readers.common import image_set, shrink
from fedsemi.data.readers.files import Bytes
from fedsemi.data.readers.source import Request

CLASS_NAMES = ("disc", "cross", "rows", "columns")
SIDE = 12
NUM_TRAIN = 600
NUM_TEST = 200
NOISE = 0.12
SEED = 2024


def read(request: Request) -> Dataset:
    """Make the images anew, always the same ones."""
    rng = np.random.default_rng(SEED)
    labels = rng.integers(len(CLASS_NAMES), size=NUM_TRAIN + NUM_TEST)
    images = _draw(labels, rng)
    train = image_set(images[:NUM_TRAIN], labels[:NUM_TRAIN])
    test = image_set(images[NUM_TRAIN:], labels[NUM_TRAIN:])
    mean, std = channel_statistics(train.images)
    dataset = Dataset(
        "synthetic", train, test, CLASS_NAMES, mean, std, SIDE, origin="made"
    )
    return shrink(dataset, request.image_size)


def _draw(
    labels: np.ndarray[tuple[int], np.dtype[np.int64]], rng: np.random.Generator
) -> Bytes:
    n = len(labels)
    y, x = np.mgrid[:SIDE, :SIDE][:, None]  # each [1, H, W]
    center = (SIDE - 1) / 2 + rng.uniform(-1.5, 1.5, (2, n, 1, 1))
    dy, dx = y - center[0], x - center[1]  # [N, H, W]
    phase = rng.uniform(0, 4, (n, 1, 1))
    radius = rng.uniform(2.5, 4.5, (n, 1, 1))
    patterns = np.stack(
        [
            np.hypot(dy, dx) < radius,
            (np.minimum(abs(dy), abs(dx)) < 1.2) & (np.maximum(abs(dy), abs(dx)) < 5),
            (y + phase) % 4 < 2 + 0 * x,
            (x + phase) % 4 < 2 + 0 * y,
        ]
    )  # [classes, N, H, W]
    shape = patterns[labels, np.arange(n)][:, None]  # [N, 1, H, W]
    # Colors vary freely, so a network has to learn the shape, not the color.
    back = rng.uniform(0.05, 0.45, (n, 3, 1, 1))
    front = rng.uniform(0.55, 0.95, (n, 3, 1, 1))
    pixels = np.where(shape, front, back) + rng.normal(0, NOISE, (n, 3, SIDE, SIDE))
    images: Bytes = np.rint(pixels.clip(0, 1) * 255).astype(np.uint8)
    return images
