"""Data sets from outside: a function that returns one, and how to make one of arrays.

A whole plug-in, named "my_data:load" in a config:

>>> import numpy as np
>>> def load():
...     rng = np.random.default_rng(0)
...     images = rng.integers(0, 256, (60, 8, 8, 3), dtype=np.uint8)
...     labels = rng.integers(0, 2, 60)
...     return dataset_of((images[:50], labels[:50]), (images[50:], labels[50:]))
>>> found = load()
>>> found.num_classes, found.channels, found.image_size, len(found.test)
(2, 3, 8, 10)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fedsemi.data.arrays import image_set, in_memory
from fedsemi.data.dataset import Dataset
from fedsemi.errors import DataError

DatasetMaker = Callable[..., Dataset]


def dataset_of(
    train: tuple[Any, Any],
    test: tuple[Any, Any],
    class_names: Sequence[str] | None = None,
    *,
    name: str = "arrays",
    image_size: int | None = None,
) -> Dataset:
    """Make a data set of arrays or tensors.

    Args:
        train: Images and labels that sites share out. Images are uint8 or fractions
            from 0 to 1, as `[N, H, W]`, `[N, H, W, C]` or `[N, C, H, W]`, C being 1 or
            3; labels count classes from 0.
        test: The same, to measure the global model on.
        class_names: In the order of the labels; their numbers if left out.
        name: For the record of a run.
        image_size: The side of the network's input; that of the images if left out.
    """
    parts = image_set("train", *train), image_set("test", *test)
    return replace(in_memory(*parts, class_names, image_size), name=name)


def made_by(maker: DatasetMaker, name: str, told: Mapping[str, Any]) -> Dataset:
    """Call what makes a data set, with what it takes by name."""
    taken = inspect.signature(maker).parameters
    try:
        found: Any = maker(**{key: told[key] for key in told if key in taken})
    except DataError:
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise DataError(f"the data set '{name}' failed ({reason})", "FS3008") from error
    if not isinstance(found, Dataset):
        kind = type(found).__name__
        raise DataError(
            f"the data set '{name}' returned a {kind}; it must return a Dataset, see "
            "fedsemi.dataset_of",
            "FS3008",
        )
    size = told["image_size"] or found.image_size
    return replace(found, name=name, image_size=size)


def problem_of(maker: Any) -> str | None:
    """Say why something from outside makes no data sets; None if it may."""
    if callable(maker):
        return None
    return "is no function that returns a Dataset"
