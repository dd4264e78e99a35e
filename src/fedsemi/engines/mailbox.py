"""A folder through which processes hand each other tensors.

Everything is a safetensors file: the reader maps it, nothing is pickled, and a large
federation needs no file descriptor per tensor. The folder lies in shared memory, or on
disk if there is too much to hold.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import ItemsView, Iterator, Mapping
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

_PREFIX = "fedsemi-"
_SHARED_MEMORY = Path("/dev/shm")


class Mailbox:
    """Named sets of tensors in a folder that several processes see."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def create(cls, in_memory: bool = True) -> Mailbox:
        """Make a folder, in memory if wanted and the system has such a place."""
        in_memory = in_memory and _SHARED_MEMORY.is_dir()
        parent = _SHARED_MEMORY if in_memory else Path(tempfile.gettempdir())
        _remove_orphans(parent)
        name = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent)
        return cls(Path(name))

    def put(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """Store tensors under a name, replacing what was there at one stroke."""
        target = self._path(name)
        partial = target.with_suffix(f".{os.getpid()}")
        save_file({key: value.contiguous() for key, value in tensors.items()}, partial)
        partial.replace(target)

    def get(self, name: str) -> Mapping[str, Tensor]:
        """Return the tensors of a name, each read when it is asked for."""
        path = self._path(name)
        return LazyTensors(path) if path.exists() else {}

    def remove(self, name: str) -> None:
        """Drop a name."""
        self._path(name).unlink(missing_ok=True)

    def destroy(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.safetensors"


class LazyTensors(Mapping[str, Tensor]):
    """A safetensors file seen as a mapping; only what is asked for is read.

    The file is open while it is read and no longer, so that thousands of them cost
    neither file descriptors nor mapped memory. To read all entries, use `items()`,
    which opens the file once.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._open() as file:
            self._keys = tuple(file.keys())

    def __getitem__(self, key: str) -> Tensor:
        if key not in self._keys:
            raise KeyError(key)
        with self._open() as file:
            tensor: Tensor = file.get_tensor(key)
        return tensor

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def items(self) -> ItemsView[str, Tensor]:
        """Show all entries."""
        return _Items(self)

    def _open(self) -> Any:
        return safe_open(self._path, framework="pt")


class _Items(ItemsView[str, Tensor]):
    _mapping: LazyTensors

    def __iter__(self) -> Iterator[tuple[str, Tensor]]:
        with self._mapping._open() as file:
            for key in self._mapping:
                yield key, file.get_tensor(key)


def _remove_orphans(parent: Path) -> None:
    """Remove the mailboxes of processes that were killed."""
    for folder in parent.glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).split("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            shutil.rmtree(folder, ignore_errors=True)
