"""Find files, check their sums, and keep on disk what is slow to decode."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from fedsemi.errors import DataError, FedSemiError
from fedsemi.storage import make_folder, replacing

Bytes = npt.NDArray[np.uint8]
_NPY_HEADER = 128

CHECKSUMS: dict[str, str] = {
    # The archives' publishers give MD5 sums.
    "train-images-idx3-ubyte.gz": "md5:f68b3c2dcbeaaa9fbdd348bbdeb94873",
    "train-labels-idx1-ubyte.gz": "md5:d53e105ee54ea40749a09fcbcd1e9432",
    "t10k-images-idx3-ubyte.gz": "md5:9fb629c4189551a2d022fa330f9573f3",
    "t10k-labels-idx1-ubyte.gz": "md5:ec29112dd5afa0611ce80d1b7f02629c",
    "train_32x32.mat": "md5:e26dedcc434d2e4c54c9b2d4a06d8373",
    "test_32x32.mat": "md5:eb5a983be6a315427106f1b164d9cef3",
    "cifar-10-binary.tar.gz": "md5:c32a1d4ab5d03f1284b67883e8d87530",
    "cifar-100-binary.tar.gz": "md5:03b5dce01913d631647c71ecec9e9cb8",
    # Compact copies, made for tests and benchmarks.
    "mnist.npz": "sha256:"
    "06b06e2ff74007434609fdc1de7bb23540e5ee17c05f84bf1ad752611c23ca8d",
    "svhn.npz": "sha256:"
    "90bae75192e9a7a744091d32b75f82e2057c1e354203b21d79bd16fa98782ff4",
    "cifar100.npz": "sha256:"
    "2ca8df088c8d730709797148fbb7c267351ae955172ecfc72926d032466be4a4",
    "isic18.npz": "sha256:"
    "accb68780b9abcc469a6a424be215cdac1d770579f61360067df433520466540",
    "isic18-96.npz": "sha256:"
    "10a4a02547d69a1d6f4b182b62fd04bacdd8da48ee09ad6c461ef1b4512d3f84",
    "isic18.csv": "sha256:"
    "ccd42c32eec087549821abe83bad4dac7a2114d9e5585275dde9866364d9e9df",
}
"""The known sums of files, by name; a file of the name must have the sum."""

KEEP_AFTER_SECONDS = 2.0
"""Decoding that takes longer is kept on disk; cheaper decoding is simply repeated."""


def locate(folder: Path, *names: str, inside: tuple[str, ...] = ()) -> Path | None:
    """Return the first of `names` that exists in the folder or in one `inside` it."""
    places = [folder, *(folder / sub for sub in inside)]
    found = (place / name for place in places for name in names)
    return next((path for path in found if path.exists()), None)


def locate_all(
    folder: Path, names: tuple[str, ...], inside: tuple[str, ...]
) -> tuple[Path, ...]:
    """Return where each of `names` lies, or nothing if one of them is missing."""
    found = [locate(folder, name, inside=inside) for name in names]
    paths = tuple(path for path in found if path)
    return paths if len(paths) == len(names) else ()


def verify(path: Path, sums: Sequence[str] | None = None) -> str:
    """Return the SHA-256 of a file; refuse it if its known sum differs.

    Args:
        path: The file.
        sums: Any of these it must have; None takes those that are known by its name.
    """
    found = sums_of(path)
    known = known_sums(path.name) if sums is None else tuple(sums)
    if known and not found & {*known}:
        kind, _, expected = known[0].partition(":")
        own = next(each for each in found if each.startswith(kind))
        raise DataError(
            f"{path} is damaged or another version: its {kind} is "
            f"{own.removeprefix(f'{kind}:')}, expected {expected}; download it again",
            "FS3002",
        )
    return next(each for each in found if each.startswith("sha256")).split(":")[1]


def sums_of(path: Path) -> set[str]:
    """Return the MD5 and the SHA-256 of a file, each with its kind before it."""
    sums = {"md5": hashlib.md5(usedforsecurity=False), "sha256": hashlib.sha256()}
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            for digest in sums.values():
                digest.update(block)
    return {f"{kind}:{digest.hexdigest()}" for kind, digest in sums.items()}


def known_sums(name: str) -> tuple[str, ...]:
    """Return the sum that a file of this name must have, if one is known."""
    return (CHECKSUMS[name],) if name in CHECKSUMS else ()


def malformed(path: Path, reason: str) -> DataError:
    """Return the error for a file that is not what its name says."""
    return DataError(f"{path} cannot be read: {reason}", "FS3004")


def kept(key: str, decode: Callable[[], Bytes]) -> Bytes:
    """Return `decode()`, or what an earlier call with the same key left on disk.

    Args:
        key: Names the content: data set, SHA-256 of its source, and size if it varies.
        decode: Makes the array.
    """
    path = Path.home() / ".cache" / "fedsemi" / "decoded" / f"{key}.npy"
    earlier = _earlier(path)
    if earlier is not None:
        return earlier
    started = time.monotonic()
    array = decode()
    if time.monotonic() - started > KEEP_AFTER_SECONDS:
        _store(path, array)
    return array


def _earlier(path: Path) -> Bytes | None:
    try:
        # Copy-on-write, since torch warns of arrays that cannot be written to.
        array: Bytes = np.load(path, mmap_mode="c", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None  # absent, or spoilt: decoding again replaces it
    return array


def _store(path: Path, array: Bytes) -> None:
    # A full or read-only disk costs the next run some seconds, and no more.
    with suppress(FedSemiError):
        make_folder(path.parent, private=True)
        with replacing(path, array.nbytes + _NPY_HEADER, private=True) as sink:
            np.save(cast(Any, sink), array)
