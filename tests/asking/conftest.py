"""A site's folder of noise, and the model of a short run that looks at it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fedsemi.asking.asker import Asker, open_asker
from fedsemi.asking.desk import Desk
from fedsemi.asking.shelf import Shelf


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Twelve pictures of noise; the name of one is an attack."""
    folder = tmp_path / "ward 7"
    folder.mkdir()
    noise = np.random.default_rng(1).integers(0, 256, (12, 20, 30, 3), dtype=np.uint8)
    for number, pixels in enumerate(noise):
        name = "<img src=x onerror=alert(1)>" if number == 3 else f"{number:02}"
        Image.fromarray(pixels).save(folder / f"{name}.png")
    return folder


@pytest.fixture
def asker(real_run: Path) -> Asker:
    return open_asker(real_run)


@pytest.fixture
def shelf(site: Path, asker: Asker) -> Shelf:
    return Shelf(site, asker.card.class_names)


@pytest.fixture
def desk(shelf: Shelf, asker: Asker) -> Desk:
    """Five pictures in the order of a rule."""
    return Desk(shelf, asker.queue(shelf, "uncertainty", 5)[0])
