"""Small folders of pictures for the tests."""

from pathlib import Path

import numpy as np
from PIL import Image


def save_picture(path: Path, value: int | np.ndarray, mode: str = "RGB") -> Path:
    """Save a flat (or given) picture of 8 pixels a side."""
    array = np.full((8, 8), value, np.uint8) if isinstance(value, int) else value
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(array).convert(mode).save(path)
    return path


def make_site(root: Path, counts: dict[str, int], start: int = 0) -> Path:
    """Make a folder with a sub-folder for each class, every picture a different one."""
    rng = np.random.default_rng(start)
    for label, count in counts.items():
        for number in range(count):
            value = rng.integers(0, 256, (8, 8), dtype=np.uint8)
            place = root / label if label else root
            save_picture(place / f"{start + number}.png", value, "L")
    root.mkdir(parents=True, exist_ok=True)
    return root
