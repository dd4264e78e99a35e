"""Compact `.npz` files: lossless WebP columns of equal-sized images, plus labels.

Small copies of public data sets for tests and benchmarks. `webp` holds the pictures
end to end, `offsets` where each begins, `shape` that of all images together.
"""

from __future__ import annotations

import io
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os import cpu_count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from fedsemi.data.dataset import ImageSet
from fedsemi.data.readers.common import channels_first, image_set
from fedsemi.data.readers.files import Bytes, kept, malformed, verify


@dataclass(frozen=True, eq=False)
class Compact:
    """The content of one compact file; images are `[N, C, H, W]`."""

    images: Bytes
    fields: dict[str, npt.NDArray[Any]]

    @property
    def labels(self) -> npt.NDArray[np.int64]:
        """The class of each image."""
        return self.fields["label"].astype(np.int64)

    def parts(self) -> tuple[ImageSet, ImageSet]:
        """Return the training and the test part; the file says where one ends."""
        images, labels, n = self.images, self.labels, int(self.fields["n_train"])
        return image_set(images[:n], labels[:n]), image_set(images[n:], labels[n:])


def read_compact(path: Path) -> Compact:
    """Read a compact file after checking its sum."""
    sha256 = verify(path)
    try:
        with np.load(path, allow_pickle=False) as file:
            fields = {name: file[name] for name in file.files if name != "webp"}
            offsets, shape = fields.pop("offsets"), fields.pop("shape")
            webp = file["webp"]
        images = kept(
            f"{path.stem}-{sha256}",
            lambda: channels_first(
                _decode(webp.tobytes(), offsets, tuple(int(side) for side in shape))
            ),
        )
        if len(fields["label"]) != len(images):
            raise ValueError(f"{len(images)} images, {len(fields['label'])} labels")
    except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        raise malformed(path, f"not a compact image file ({error})") from error
    return Compact(images, fields)


def _decode(
    webp: bytes, offsets: npt.NDArray[np.int64], shape: tuple[int, ...]
) -> Bytes:
    mode = "L" if len(shape) == 3 else "RGB"

    def column(start: int, stop: int) -> Bytes:
        with Image.open(io.BytesIO(webp[start:stop]), formats=["WEBP"]) as image:
            return np.asarray(image.convert(mode)).reshape(-1, *shape[1:])

    with ThreadPoolExecutor(cpu_count()) as pool:
        columns = list(pool.map(column, offsets[:-1], offsets[1:]))
    images = np.concatenate(columns)
    if images.shape != shape:
        raise ValueError(f"images of shape {images.shape} instead of {shape}")
    return images
