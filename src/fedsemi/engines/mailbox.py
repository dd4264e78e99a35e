"""A folder through which processes hand each other tensors.

Everything is a safetensors file: the reader maps it, nothing is pickled, and a large
federation needs no file descriptor per tensor. The folder lies in shared memory, or on
disk if there is too much to hold.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from functools import lru_cache
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
        _opened.cache_clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.safetensors"


class LazyTensors(Mapping[str, Tensor]):
    """A safetensors file seen as a mapping; only what is asked for is read.

    The last few files stay open while their tensors are read one by one; thousands of
    them cost neither file descriptors nor mapped memory.
    """

    def __init__(self, path: Path) -> None:
        # A file that was replaced under the same name is another file.
        status = path.stat()
        self._identity = str(path), status.st_ino, status.st_mtime_ns
        # Thousands of files have the same keys: one tuple for all of them.
        self._keys = _one_of_its_kind(tuple(self._open().keys()))

    def __getitem__(self, key: str) -> Tensor:
        if key not in self._keys:
            raise KeyError(key)
        tensor: Tensor = self._open().get_tensor(key)
        return tensor

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def _open(self) -> Any:
        return _opened(*self._identity)


@lru_cache(maxsize=3)
def _opened(path: str, inode: int, changed: int) -> Any:
    return safe_open(path, framework="pt")


@lru_cache(maxsize=64)
def _one_of_its_kind(keys: tuple[str, ...]) -> tuple[str, ...]:
    return keys


def _remove_orphans(parent: Path) -> None:
    """Remove the mailboxes of processes that were killed."""
    for folder in parent.glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).split("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            shutil.rmtree(folder, ignore_errors=True)
