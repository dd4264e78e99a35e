"""A folder through which processes hand each other tensors.

Everything is a safetensors file: the reader maps it, nothing is pickled, and a large
federation needs no file descriptor per tensor. The folder lies in shared memory, or on
disk if there is too much to hold.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from fedsemi.flat import Flat, Layout, read_layout

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
        """Store tensors under a name; without any, nothing is left there.

        Whoever still looks at what was there keeps it: a file is never overwritten.
        """
        self.remove(name)
        if tensors:
            flat = Flat.of(tensors)
            with self._path(name).open("xb") as file:
                file.write(flat.layout.header)
                file.write(flat.block.numpy().data)

    def get(self, name: str) -> Mapping[str, Tensor]:
        """Return the tensors of a name, which are read when they are asked for."""
        path = self._path(name)
        return Stored(path) if path.exists() else {}

    def identity(self, name: str) -> tuple[Path, int, int]:
        """Tell a file from one that took its place under the same name."""
        path = self._path(name)
        status = path.stat()
        return path, status.st_ino, status.st_mtime_ns

    def remove(self, name: str) -> None:
        """Drop a name."""
        self._path(name).unlink(missing_ok=True)

    def destroy(self) -> None:
        """Remove the folder."""
        _mapped.cache_clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.safetensors"


class Stored(Flat):
    """A safetensors file of ours; its block is mapped when it is asked for.

    The last few stay mapped while they are looked at again and again; thousands of
    them cost neither file descriptors nor mapped memory.
    """

    def __init__(self, path: Path) -> None:
        # A file that was replaced under the same name is another file.
        status = path.stat()
        self._identity = str(path), status.st_ino, status.st_mtime_ns, status.st_size
        self.layout = self._mapped()[0]

    @property
    def block(self) -> Tensor:
        """The bytes of all tensors."""
        return self._mapped()[1]

    def _mapped(self) -> tuple[Layout, Tensor]:
        return _mapped(*self._identity)


@lru_cache(maxsize=3)
def _mapped(path: str, inode: int, changed: int, size: int) -> tuple[Layout, Tensor]:
    whole = torch.from_file(path, shared=False, size=size, dtype=torch.uint8)
    start = 8 + int(whole[:8].view(torch.int64))
    return read_layout(whole[8:start].numpy().tobytes()), whole[start:]


def _remove_orphans(parent: Path) -> None:
    """Remove the mailboxes of processes that were killed."""
    for folder in parent.glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).split("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            shutil.rmtree(folder, ignore_errors=True)
