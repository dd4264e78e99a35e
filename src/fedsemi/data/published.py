"""Read the index files that came with RSCFed, CBAFed and SemiAnAgg, as data only.

They are pickles, so a stranger's file could run code. `torch.load` with
`weights_only=True` and the unpickler below admit lists, numbers and arrays, no more.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from fedsemi.errors import DataError

Rows = npt.NDArray[np.int64]

_ZIP = b"PK"
_OLD_TORCH = 0x1950A86A20F9469CFC6C
_ADMITTED = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
}


@dataclass(frozen=True, eq=False)
class PublishedIndex:
    """What an index file says, before it becomes a `Partition`.

    Attributes:
        labeled: Rows of each client that have labels, or None if the file does not say.
        rows: Rows of each client (without `labeled`: all; with it: the unlabeled).
        train_rows: Rows of the whole data set that `rows` count from, or None.
        test_rows: Rows of the whole data set held out for testing, or None.
    """

    rows: tuple[Rows, ...]
    labeled: tuple[Rows, ...] | None = None
    train_rows: Rows | None = None
    test_rows: Rows | None = None


def read_published(path: Path) -> PublishedIndex:
    """Read one index file; its three known forms are told apart by their keys."""
    content = _read_pickle(path)
    try:
        if isinstance(content, tuple) and len(content) == 2:
            # CIFAR-100-LT: the clients count within the long-tailed list.
            return PublishedIndex(_clients(content[0]), train_rows=_rows(content[1]))
        if "labeled" in content:
            return PublishedIndex(
                _clients(content["unlabeled"]), labeled=_clients(content["labeled"])
            )
        train, test = content.get("train_list"), content.get("test_list")
        return PublishedIndex(
            _clients(content["data_partition"]),
            train_rows=None if train is None else _rows(train),
            test_rows=None if test is None else _rows(test),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(
            f"{path} is no published index file: expected a dict with 'data_partition' "
            "or 'labeled' and 'unlabeled', or a pair (clients, rows)",
            "FS3012",
        ) from error


def _read_pickle(path: Path) -> Any:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}", "FS3012") from error
    try:
        if content.startswith(_ZIP):
            return _torch_load(content)
        plain = _DataOnly(io.BytesIO(content)).load()
        # Before version 1.6, torch.save wrote several pickles, the first this number.
        return _torch_load(content) if plain == _OLD_TORCH else plain
    except Exception as error:  # a damaged pickle can raise nearly anything
        reason = str(error).partition("\n")[0]
        raise DataError(
            f"{path} is damaged, or holds more than lists and numbers: {reason}",
            "FS3012",
        ) from error


def _torch_load(content: bytes) -> Any:
    return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)


class _DataOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _ADMITTED:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not admitted")


def _clients(content: Mapping[int, Any]) -> tuple[Rows, ...]:
    if sorted(content) != list(range(len(content))):
        raise ValueError("clients are not numbered from 0")
    return tuple(_rows(content[client]) for client in range(len(content)))


def _rows(content: Any) -> Rows:
    rows = np.asarray(content)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise ValueError("not a list of row numbers")
    return rows.astype(np.int64)
