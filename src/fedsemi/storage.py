"""Files of a run: written whole or not at all, and without pickle.

What holds pictures, keys, memories or tokens is private: only the user who runs fedsemi
can read it, from the moment it exists. All else follows the umask. No file is written
through a symbolic link that somebody may have planted.
"""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load, save

from fedsemi.errors import CannotCreate, StorageError
from fedsemi.messages import Weights

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_PICKLES = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
_TENSOR = b'"data_offsets"'
_LARGEST_HEADER = 1 << 20
_MOST_TENSORS = 5000
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_PRIVATE_FILE, _PRIVATE_FOLDER = 0o600, 0o700
_OTHERS = 0o077


class Sink:
    """Where the bytes of a file go, one piece after the other."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.written = 0

    def write(self, piece: bytes | memoryview) -> None:
        """Append a piece."""
        left = memoryview(piece)
        while left:
            count = os.write(self._descriptor, left)
            self.written += count
            left = left[count:]

    def rewrite_start(self, piece: bytes) -> None:
        """Put a piece over the first bytes, e.g. a header that needs the rest."""
        os.pwrite(self._descriptor, piece, 0)


@contextmanager
def replacing(path: Path, size: int, private: bool = False) -> Iterator[Sink]:
    """Write a file that takes the place of `path` at one stroke, or not at all.

    After a crash or a power failure `path` is the old file or the new one. The space is
    reserved first, so that a full disk shows before anything is written.

    Args:
        path: The file to make or to replace.
        size: How much room to reserve, in bytes; what is not used is given back.
        private: Whether nobody else may read it.
    """
    if path.is_dir():
        raise CannotCreate(f"'{path}' is a folder; give the name of a file")
    # Containers on a shared folder may all have the same process number.
    partial = path.with_name(f".{path.name}.{platform.node()}.{os.getpid()}")
    try:
        # A killed process of the same number may have left one; what another user
        # planted cannot be removed in a shared folder, and then nothing is written.
        remove(partial)
        descriptor = os.open(partial, _NEW, _PRIVATE_FILE if private else 0o644)
        try:
            _reserve(descriptor, size)
            sink = Sink(descriptor)
            yield sink
            os.ftruncate(descriptor, sink.written)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(partial, path)
        sync(path.parent)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(partial)
        if isinstance(error, OSError):
            raise cannot_write(path, size, error) from error
        raise


def write_whole(path: Path, content: bytes, private: bool = False) -> None:
    """Replace a file at one stroke."""
    with replacing(path, len(content), private) as sink:
        sink.write(content)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time look and write in a folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def append(path: Path, content: bytes) -> None:
    """Add bytes to a file; a crash may leave a part of them."""
    try:
        descriptor = os.open(path, _OPEN | os.O_APPEND)
        try:
            Sink(descriptor).write(content)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise cannot_write(path, len(content), error) from error


def cut(path: Path, size: int) -> None:
    """Make a file if there is none, and cut it to a size."""
    try:
        descriptor = os.open(path, _OPEN | os.O_CREAT, 0o644)
        try:
            os.ftruncate(descriptor, size)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise cannot_write(path, size, error) from error


def sync(path: Path) -> None:
    """Make what was written to a file or folder last through a power failure."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise cannot_write(path, 0, error) from error


def remove(path: Path) -> None:
    """Remove a file, if it is there."""
    with suppress(FileNotFoundError):
        os.unlink(path)


def write_weights(path: Path, weights: Weights, private: bool = False) -> None:
    """Save tensors as safetensors."""
    content = save({key: value.contiguous() for key, value in weights.items()})
    write_whole(path, content, private)


def read_weights(path: Path) -> Weights:
    """Load a model from safetensors; nothing else is opened, pickles least of all."""
    try:
        content = path.read_bytes()
        _check_header(path, content)
        return load(content)
    except OSError as error:
        raise StorageError(f"cannot read '{path}': {error.strerror}") from None
    except SafetensorError as error:
        raise StorageError(
            f"'{path}' is not a whole safetensors file ({error})", code="FS1104"
        ) from None


def _check_header(path: Path, content: bytes) -> None:
    """Refuse pickles by name, and headers that would take long to read."""
    if content.startswith(_PICKLES):
        raise StorageError(
            f"'{path}' may hold Python objects, as torch.save writes them; save the "
            "weights with safetensors.torch.save_file",
            code="FS1109",
        )
    header = int.from_bytes(content[:8], "little")
    tensors = content.count(_TENSOR, 8, 8 + min(header, _LARGEST_HEADER))
    if header > _LARGEST_HEADER or tensors > _MOST_TENSORS:
        raise StorageError(
            f"'{path}' is no model: its header has {header:,} bytes and {tensors:,} "
            f"tensors, more than {_LARGEST_HEADER:,} or {_MOST_TENSORS:,}",
            code="FS1104",
        )


def make_folder(path: Path, private: bool = False) -> Path:
    """Make a folder, or say why not; one that is to be private is made so."""
    try:
        path.mkdir(_PRIVATE_FOLDER if private else 0o777, parents=True, exist_ok=True)
    except OSError as error:
        raise CannotCreate(f"cannot make '{path}': {error.strerror}") from None
    if private and path.stat().st_mode & _OTHERS:
        try:
            path.chmod(_PRIVATE_FOLDER)
        except OSError as error:
            raise CannotCreate(
                f"'{path}' is open to other users and cannot be closed "
                f"({error.strerror}); give a folder of your own",
                code="FS1120",
            ) from None
    return path


def cannot_write(path: Path, size: int, error: OSError) -> StorageError:
    """Say why a file could not be written and what that means."""
    why = error.strerror or str(error)
    if error.errno in _FULL:
        with suppress(OSError):
            free = shutil.disk_usage(path.parent).free
            why = f"no space ({_megabytes(size)} needed, {_megabytes(free)} free)"
    remedy = "; free some space" if error.errno in _FULL else ""
    return StorageError(
        f"cannot write '{path}': {why}; nothing that was there is lost{remedy}",
        code="FS1201",
    )


def _reserve(descriptor: int, size: int) -> None:
    if size and hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
