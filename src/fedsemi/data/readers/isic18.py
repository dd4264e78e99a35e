"""ISIC-2018 task 3 (HAM10000): Tschandl et al., Scientific Data 5, 2018.

Reads the official folders of JPEGs with `HAM10000_metadata.csv`, or the compact files.
"""

from __future__ import annotations

import csv
import hashlib
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from fedsemi.data.dataset import Dataset
from fedsemi.data.readers.common import image_set, shrink
from fedsemi.data.readers.compact import read_compact
from fedsemi.data.readers.files import (
    Bytes,
    kept,
    locate,
    locate_all,
    malformed,
    verify,
)
from fedsemi.data.readers.isic18_split import CLASS_NAMES, Photos, split_rows
from fedsemi.data.readers.source import Request

FILES = ("HAM10000_metadata.csv", "isic18.npz", "isic18.csv")
LARGER = "isic18-96.npz"
"""The same photographs at 96 pixels, for whoever asks for more than 32."""
FOLDERS = (
    "HAM10000_images_part_1",
    "HAM10000_images_part_2",
    "ISIC2018_Task3_Training_Input",
)
MEAN = (0.7630332, 0.5456457, 0.57004654)
STD = (0.14092809, 0.15261231, 0.16997086)
IMAGE_SIZE = 224

_SUB = ("isic18",)
_COMPACT_SIDE = 32


def read(request: Request) -> Dataset | None:
    """Read the official photographs, else the compact ones."""
    match find(request.folder):
        case (metadata,):
            return _official(metadata, request)
        case (images, table):
            larger = images.with_name(LARGER)
            if (request.image_size or 0) > _COMPACT_SIDE and larger.exists():
                images = larger
            return _compact(images, table, request)
        case _:
            return None


def find(folder: Path) -> tuple[Path, ...]:
    """Return the table of the photographs, else both compact files, else nothing."""
    metadata = locate(folder, FILES[0], inside=_SUB)
    if metadata and any((metadata.parent / name).is_dir() for name in FOLDERS):
        return (metadata,)
    return locate_all(folder, FILES[1:], _SUB)


def stored_side(image_size: int) -> int:
    """Return the side images are kept at: 250 for 224, so that crops have room."""
    return round(image_size * 250 / IMAGE_SIZE)


def _official(metadata: Path, request: Request) -> Dataset:
    photos = _photos(metadata, lesion="lesion_id", age="age")
    folders = [metadata.parent / name for name in FOLDERS]
    paths = []
    for image_id in photos.image_ids:
        path = next((p for f in folders if (p := f / f"{image_id}.jpg").exists()), None)
        if path is None:
            raise malformed(metadata, f"it lists {image_id}, but no folder has its jpg")
        paths.append(path)
    image_size = request.image_size or IMAGE_SIZE
    side = stored_side(image_size)
    # Names and lengths stand for the photographs: hashing 3 GB would take longer than
    # the check is worth.
    listing = "\n".join(f"{path.name} {path.stat().st_size}" for path in paths)
    sha256 = hashlib.sha256(listing.encode()).hexdigest()
    images = kept(f"isic18-{side}-{sha256}", lambda: _decode(paths, side))
    return _dataset(photos, images, image_size, request, str(metadata.parent))


def _compact(images: Path, table: Path, request: Request) -> Dataset:
    content = read_compact(images)
    verify(table)
    photos = _photos(table, lesion="ham_lesion_id", age="ham_age")
    official = np.flatnonzero(content.fields["isic2018_split"] == 0)
    side = content.images.shape[-1]
    origin = f"{images} ({side} pixels a side)"
    dataset = _dataset(
        photos.take(official), content.images[official], side, request, origin
    )
    return shrink(dataset, request.image_size)


def _dataset(
    photos: Photos, images: Bytes, image_size: int, request: Request, origin: str
) -> Dataset:
    train, test = split_rows(photos, request.split)
    _, lesions = np.unique(photos.lesions, return_inverse=True)
    return Dataset(
        name="isic18",
        train=image_set(images[train], photos.labels[train]),
        test=image_set(images[test], photos.labels[test]),
        class_names=CLASS_NAMES,
        mean=MEAN,
        std=STD,
        image_size=image_size,
        groups=torch.from_numpy(lesions[train]),
        test_groups=torch.from_numpy(lesions[test]),
        test_metadata={
            "age": tuple(age_band(photos.ages[row]) for row in test),
            "sex": tuple(photos.sexes[row] or "unknown" for row in test),
            "site": tuple(photos.sites[row] or "unknown" for row in test),
        },
        origin=origin,
    )


def age_band(age: str) -> str:
    """Return "0-29", "30-44", "45-59", "60-74", "75+", or "unknown"."""
    if not age:
        return "unknown"
    years = float(age)
    bands = ((30, "0-29"), (45, "30-44"), (60, "45-59"), (75, "60-74"))
    return next((band for limit, band in bands if years < limit), "75+")


def _photos(path: Path, *, lesion: str, age: str) -> Photos:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        raise malformed(path, "it lists no photographs")
    try:
        return Photos(
            image_ids=tuple(row["image_id"] for row in rows),
            labels=np.array([CLASS_NAMES.index(row["dx"]) for row in rows]),
            lesions=tuple(row[lesion] for row in rows),
            ages=tuple(row[age] for row in rows),
            sexes=tuple(row["sex"] for row in rows),
            sites=tuple(row["localization"] for row in rows),
        )
    except (KeyError, ValueError) as error:
        raise malformed(path, f"not the table of HAM10000 ({error})") from error


def _decode(paths: list[Path], side: int) -> Bytes:
    def one(path: Path) -> Bytes:
        try:
            with Image.open(path, formats=["JPEG"]) as image:
                small = image.convert("RGB").resize(
                    (side, side), Image.Resampling.BILINEAR
                )
        except OSError as error:
            raise malformed(path, str(error)) from error
        return np.asarray(small).transpose(2, 0, 1)

    images = np.empty((len(paths), 3, side, side), dtype=np.uint8)
    with ThreadPoolExecutor(cpu_count()) as pool:
        for row, image in enumerate(pool.map(one, paths)):
            images[row] = image
    return images
