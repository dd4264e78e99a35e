"""Networks by other names: a TorchScript or ONNX file, or one of timm's.

The first two are whole encoders, weights and all, that compute and are not trained.
Their names are `torchscript:FILE`, `onnx:FILE` and `timm:NAME`.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from fedsemi.errors import ConfigError
from fedsemi.models.encoders import EncoderSpec, checked_file, encoder_file, sha256_of


@dataclass(frozen=True)
class EncoderFile(ABC):
    """Makes a frozen encoder of a file that holds all of it."""

    file: str
    """A path, or a name in the folder of encoders."""

    @property
    def identity(self) -> tuple[str, str, str]:
        """No package, no release, and the hash of the file."""
        return "", "", sha256_of(encoder_file(self.file))

    def __call__(self) -> nn.Module:
        """Read the file."""
        return self.read(encoder_file(self.file))

    @abstractmethod
    def read(self, path: Path) -> nn.Module:
        """Make a module that turns images into features."""

    def check(self, spec: EncoderSpec) -> None:
        """Refuse another file than is meant."""
        checked_file(self.file, spec.sha256)


class TorchScriptFile(EncoderFile):
    """A module that `torch.jit.save` wrote."""

    def read(self, path: Path) -> nn.Module:
        """Load it to the CPU."""
        found: nn.Module = torch.jit.load(path, map_location="cpu")  # type: ignore[no-untyped-call]
        return found


class OnnxFile(EncoderFile):
    """A graph whose first input are images and whose first output are features."""

    def read(self, path: Path) -> nn.Module:
        """Open it with onnxruntime."""
        return OnnxEncoder(path.read_bytes())


class OnnxEncoder(nn.Module):
    """Lets onnxruntime compute; copies share its session.

    Args:
        content: The file.
    """

    def __init__(self, content: bytes) -> None:
        super().__init__()
        runtime = imported("onnxruntime", "export")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1  # as torch: more would change bits
        self._session = _Shared(
            runtime.InferenceSession(
                content, options, providers=["CPUExecutionProvider"]
            )
        )

    def forward(self, images: Tensor) -> Tensor:
        """Return the features of images, [B, d]."""
        if torch.jit.is_tracing() or torch.compiler.is_exporting():  # type: ignore[no-untyped-call,attr-defined]
            raise ConfigError(
                "a model whose encoder is an ONNX file cannot be exported; use it "
                "with `fedsemi predict`",
                code="FS4108",
            )
        session = self._session.thing
        name = session.get_inputs()[0].name
        pixels = images.detach().float().cpu().contiguous().numpy()
        found: Any = session.run(None, {name: pixels})[0]
        return torch.from_numpy(found).flatten(1).to(images.device)


class _Shared:
    """Holds what cannot be copied, and need not be."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __deepcopy__(self, memo: object) -> _Shared:
        return self


@dataclass(frozen=True)
class TimmNetwork:
    """Makes a network of timm without its classifier; weights come from a file."""

    name: str

    @property
    def identity(self) -> tuple[str, str, str]:
        """The package and its release."""
        try:
            return "timm", version("timm"), ""
        except PackageNotFoundError:
            return "timm", "", ""

    def __call__(self, in_channels: int = 3) -> nn.Module:
        """Make it with random weights; nothing is downloaded."""
        timm = imported("timm", "timm")
        network: nn.Module = timm.create_model(
            self.name, pretrained=False, num_classes=0, in_chans=in_channels
        )
        return network


SCHEMES: Mapping[str, Callable[[str], Callable[..., nn.Module]]] = {
    "torchscript": TorchScriptFile,
    "onnx": OnnxFile,
    "timm": TimmNetwork,
}
"""What makes a network, by what stands before the colon of its name."""


def check_encoder(name: str, maker: object, spec: EncoderSpec | None) -> None:
    """Refuse settings of an encoder that do not go with its kind of file."""
    if isinstance(maker, EncoderFile):
        if spec is None or spec.weights is not None:
            raise ConfigError(
                f"'{name}' is an encoder with its weights: add a section "
                "[model.encoder], which may be empty, and leave its weights out",
                code="FS4196",
            )
        if spec.trained_blocks != 0:
            raise ConfigError(
                f"'{name}' can be used, but not trained; leave "
                "model.encoder.trained_blocks at 0, or name the network as "
                "module:Class with its weights in a file",
                code="FS4193",
            )
    elif spec is not None and spec.weights is None:
        raise ConfigError(
            "'model.encoder.weights' is missing: the safetensors file of the encoder; "
            "`fedsemi encoder --help` tells how to get one",
            code="FS4196",
        )


def imported(module: str, extra: str) -> Any:
    """Import a package that not everybody has, or say in one line what to do."""
    try:
        return importlib.import_module(module)
    except Exception as error:  # timm fails in torchvision with a RuntimeError
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:120]
        how = "" if extra == "timm" else f" 'fedsemi[{extra}]'"
        raise ConfigError(
            f"{module} cannot be imported ({reason}); `pip install{how or ' timm'}` "
            "adds it",
            code="FS4194",
        ) from None
