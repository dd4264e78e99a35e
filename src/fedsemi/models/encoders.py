"""Pretrained encoders: what a config says of one, and its file of weights.

Weights never travel: every process reads them from a file of its own machine, whose
SHA-256 is in the plan.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import with_config
from torch import Tensor, nn

from fedsemi.errors import ConfigError, StorageError
from fedsemi.messages import Weights
from fedsemi.settings import STRICT, Count, Positive, Whole
from fedsemi.storage import read_weights

FOLDER = "FEDSEMI_ENCODERS"
"""Names a folder of encoders in the environment."""
_BLOCK = 1 << 20
_PLACES = frozenset("/\\:\0")
"""What parts a path, names a drive of Windows, or ends a name."""


@with_config(STRICT)
@dataclass(frozen=True)
class EncoderSpec:
    """[model.encoder]: pretrained weights, what of them is trained, and the cache."""

    weights: str | None = None
    """A safetensors file: a path, or its name in the folder of encoders; left out for
    torchscript: and onnx:, whose file has them."""
    sha256: str | None = None
    """Refuse any other file."""
    trained_blocks: Whole | Literal["all"] = 0
    """Blocks at the encoder's end that are trained; 0 for a frozen one."""
    adapter: Count = 256
    """Width of the trained layer between encoder and head."""
    cached_views: Whole = 4
    """Weak and strong views of a picture whose features are computed once and kept; 0
    to draw each view anew and compute it every time."""
    cache_gb: Positive = 4.0
    """Most that kept features may take on disk, in GB."""
    mean: tuple[float, ...] | None = None
    """Mean of each channel, from 0 to 1, that the encoder was trained with; as the
    encoder says, else the data's."""
    std: tuple[float, ...] | None = None
    """Standard deviation of the same."""

    def __post_init__(self) -> None:
        if (self.mean is None) != (self.std is None) or (
            self.mean and self.std and len(self.mean) != len(self.std)
        ):
            raise ConfigError(
                "model.encoder.mean and std go together, with one number for each "
                "channel",
                code="FS4196",
            )

    @property
    def is_cached(self) -> bool:
        """Whether there is something frozen whose features are kept."""
        return self.cached_views > 0 and self.trained_blocks != "all"


def encoder_folder() -> Path:
    """Say where encoders lie: FEDSEMI_ENCODERS, else a folder of the user's cache."""
    if named := os.environ.get(FOLDER):
        return Path(named).expanduser()
    return Path.home() / ".cache" / "fedsemi" / "encoders"


def is_bare(name: object) -> bool:
    """Tell whether a file's name says nothing of its place, on whatever system.

    >>> is_bare("a.safetensors"), is_bare("/etc/passwd"), is_bare("C:a"), is_bare("..")
    (True, False, False, False)
    """
    if not isinstance(name, str) or name in ("", ".", ".."):
        return False
    return not set(name) & _PLACES


def in_folder(spec: EncoderSpec) -> EncoderSpec:
    """Name the file in the folder of encoders, so that it is looked for only there."""
    if spec.weights is None:
        return spec
    return replace(spec, weights=str(encoder_folder() / spec.weights))


def encoder_file(name: str) -> Path:
    """Find a file by its path, else by its name in the folder of encoders.

    Raises:
        ConfigError: It is nowhere.
    """
    for path in (Path(name).expanduser(), encoder_folder() / Path(name).name):
        if path.is_file():
            return path
    raise ConfigError(
        f"the encoder '{name}' is neither a file here nor in {encoder_folder()}; copy "
        f"it there, set {FOLDER} to its folder, or see `fedsemi encoder --help`",
        code="FS4190",
    )


def sha256_of(path: Path) -> str:
    """Hash a file, once as long as it stays the same."""
    about = path.stat()
    return _sha256(path, about.st_size, about.st_mtime_ns, about.st_ino)


@lru_cache(maxsize=16)
def _sha256(path: Path, *_: int) -> str:
    sha = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            sha.update(block)
    return sha.hexdigest()


def checked_file(name: str, sha256: str | None) -> Path:
    """Find a file, and refuse it if it is another one than is meant."""
    path = encoder_file(name)
    if sha256 is not None and (found := sha256_of(path)) != sha256:
        raise ConfigError(
            f"the encoder '{path}' has the sha256 {found[:12]}…, but {sha256[:12]}… is "
            "asked for; copy the same file to every machine",
            code="FS4191",
        )
    return path


def with_sha256(spec: EncoderSpec, file: str) -> EncoderSpec:
    """Note the hash of the file that lies here; one that is given must be its own."""
    return replace(spec, sha256=sha256_of(checked_file(file, spec.sha256)))


def read_encoder(spec: EncoderSpec) -> Weights:
    """Read the pretrained weights; pickles are not opened.

    Raises:
        ConfigError: The file is not there, or another one.
        StorageError: It is damaged, or a pickle.
    """
    assert spec.weights is not None
    path = checked_file(spec.weights, spec.sha256)
    try:
        return read_weights(path)
    except StorageError as error:
        if error.code != "FS1109":
            raise
        raise StorageError(
            f"'{path}' is a pickle, which can run any code when it is opened; "
            f"`fedsemi encoder {path}` reads nothing but tensors of it and writes them "
            "as safetensors",
            code="FS1109",
        ) from None


def fill(network: nn.Module, weights: Weights, source: str) -> None:
    """Give a network its pretrained weights.

    Keys may stand below `encoder.`, as in the model of a run. A head that lies in the
    file is not read; all that the network has must be there.
    """
    network.load_state_dict(
        {
            key: _found(key, value, weights, source)
            for key, value in network.state_dict().items()
        }
    )


def _found(
    key: str, value: Tensor, weights: Mapping[str, Tensor], source: str
) -> Tensor:
    for name in (key, f"encoder.{key}", key.removeprefix("network.")):
        if name in weights and weights[name].shape == value.shape:
            return weights[name]
    lacks = "has another shape" if key in weights else "is missing"
    raise ConfigError(
        f"'{key}' {lacks} in '{source}', so its weights are not of this network; name "
        "the network that they were trained with",
        code="FS4192",
    )
