"""Files of features: what a frozen encoder made of pictures, kept at the site.

A file holds features of one view for some pictures, each named by a hash of its
pixels. It has no field for a label. It is written whole or not at all, hashed, read as
a memory map, and private like the pictures themselves.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fedsemi.errors import ConfigError
from fedsemi.storage import make_folder, remove, replacing

Halves = npt.NDArray[np.float16]

SUFFIX = ".features"
NAME_BYTES = 16
"""Of the hash that names a picture."""
_MAGIC = b"fedsemi features 1\n"
_HEADER = 512
_BLOCK = 1 << 22


@dataclass(frozen=True, eq=False)
class FeatureFile:
    """An open file."""

    path: Path
    names: tuple[bytes, ...]
    """Of the pictures, a row each."""
    features: Halves
    """[N, D]"""


class Damaged(Exception):
    """A file is torn, changed, or of another kind."""


def write_features(path: Path, names: Sequence[bytes], features: Halves) -> None:
    """Write features of pictures at one stroke."""
    pictures = b"".join(names)
    sha = hashlib.sha256(pictures)
    rows = np.ascontiguousarray(features)
    for block in _blocks(rows):
        sha.update(block)
    about = {"shape": rows.shape, "sha256": sha.hexdigest()}
    header = (_MAGIC + json.dumps(about).encode()).ljust(_HEADER)
    make_folder(path.parent, private=True)
    with replacing(path, _HEADER + len(pictures) + rows.nbytes, private=True) as sink:
        sink.write(header + pictures)
        for block in _blocks(rows):
            sink.write(block)


def open_features(path: Path) -> FeatureFile:
    """Map a file into memory after its size and its hash were checked.

    Raises:
        Damaged: It is not what was written.
    """
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
            if not header.startswith(_MAGIC):
                raise Damaged(path)
            about = json.loads(header[len(_MAGIC) :])
            shape = tuple(map(int, about["shape"]))
            pictures = file.read(shape[0] * NAME_BYTES)
        offset = _HEADER + shape[0] * NAME_BYTES
        features: Any = np.memmap(path, np.float16, "r", offset, shape)
        if path.stat().st_size != offset + features.nbytes:
            raise Damaged(path)
        sha = hashlib.sha256(pictures)
        for block in _blocks(features):
            sha.update(block)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise Damaged(path) from error
    if sha.hexdigest() != about["sha256"]:
        raise Damaged(path)
    with suppress(OSError):
        os.utime(path)  # what was used last goes last
    names = tuple(
        pictures[at : at + NAME_BYTES] for at in range(0, len(pictures), NAME_BYTES)
    )
    return FeatureFile(path, names, features)


def make_room(folder: Path, size: int, most: float, used: Collection[Path]) -> None:
    """Remove the files that were not used for longest, until there is room.

    Args:
        folder: With all files of features, also of other encoders.
        size: Bytes to come.
        most: Bytes that all of them may take.
        used: What this process works with, which stays.

    Raises:
        ConfigError: What stays leaves no room.
    """
    sizes = dict(_files(folder))
    needed = size + sum(sizes.get(path, 0) for path in used)
    if needed > most:
        raise ConfigError(
            f"features take {needed / 1e9:.2g} GB, more than model.encoder.cache_gb = "
            f"{most / 1e9:g}; raise it, lower cached_views, or set cached_views = 0 to "
            "compute each view anew",
            code="FS4195",
        )
    oldest = sorted(sizes.keys() - set(used), key=_last_used)
    left = size + sum(sizes.values())
    for path in oldest:
        if left <= most:
            return
        remove(path)
        left -= sizes[path]


def _files(folder: Path) -> Iterator[tuple[Path, int]]:
    for path in folder.glob(f"*/*{SUFFIX}"):
        with suppress(OSError):  # another process may have removed it
            yield path, path.stat().st_size


def _last_used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _blocks(rows: npt.NDArray[Any]) -> Iterator[bytes]:
    flat = rows.reshape(-1).view(np.uint8)
    for start in range(0, len(flat), _BLOCK):
        yield flat[start : start + _BLOCK].tobytes()
