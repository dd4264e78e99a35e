"""Files of a run: written whole or not at all, and without pickle."""

from __future__ import annotations

import os
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load, save

from fedsemi.errors import CannotCreate, StorageError
from fedsemi.messages import Weights


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file at one stroke: after a crash it is the old one or the new one."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise StorageError(
            f"cannot write '{path}': {error.strerror}; the old file is kept",
            code="FS1201",
        ) from error


def write_weights(path: Path, weights: Weights) -> None:
    """Save a model as safetensors."""
    write_whole(path, save({key: value.contiguous() for key, value in weights.items()}))


def read_weights(path: Path) -> Weights:
    """Load a model from safetensors."""
    try:
        return load(path.read_bytes())
    except OSError as error:
        raise StorageError(f"cannot read '{path}': {error.strerror}") from None
    except SafetensorError as error:
        raise StorageError(
            f"'{path}' is not a whole safetensors file ({error})", code="FS1104"
        ) from None


def make_folder(path: Path) -> Path:
    """Make a folder, or say why not."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotCreate(f"cannot make '{path}': {error.strerror}") from None
    return path
