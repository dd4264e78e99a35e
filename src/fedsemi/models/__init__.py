"""Networks by name, and the picklable recipe from which every process builds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn

from fedsemi.errors import ConfigError, nearest
from fedsemi.models.classifier import Classifier, Output
from fedsemi.models.copying import copied
from fedsemi.models.resnet import resnet8, resnet18_cifar, resnet18_imagenet
from fedsemi.models.simple_cnn import simple_cnn

__all__ = ["MODELS", "Classifier", "ModelSpec", "Output"]


@dataclass(frozen=True)
class ModelSpec:
    """The recipe of a network: small, picklable, and the same on all clients.

    Raises:
        ConfigError: The name is unknown, or a number is impossible.
    """

    name: str
    """A key of `MODELS`."""

    num_classes: int
    """Classes to tell apart."""

    in_channels: int = 3
    """One for gray images, three for color."""

    width: int | None = None
    """Channels of the first stage of a residual network; None for its own default."""

    image_size: int = 32
    """Height and width of the images; only simple-cnn depends on it."""

    def __post_init__(self) -> None:
        _builder(self.name)
        for field in ("num_classes", "in_channels", "width", "image_size"):
            value = getattr(self, field)
            if value is not None and value < 1:
                raise ConfigError(f"{field} must be at least 1, found {value}")
        if self.name == "simple-cnn" and self.width is not None:
            raise ConfigError(
                f"simple-cnn has fixed widths, found width {self.width}; leave it out"
            )

    @property
    def signed_features(self) -> bool:
        """Whether features may be negative, and with them a cosine of two of them."""
        return self.name == "simple-cnn"

    @property
    def num_features(self) -> int:
        """d, the length of a feature."""
        return _skeleton(self).num_features

    @property
    def num_parameters(self) -> int:
        """Count the weights; nothing is allocated."""
        return sum(value.numel() for value in _skeleton(self).state_dict().values())

    def build(self, seed: int) -> Classifier:
        """Return the network with random weights that depend on `seed` alone.

        The global random number generators are left as they were.
        """
        with torch.random.fork_rng(devices=[]), torch.device("cpu"):
            # Not `torch.manual_seed`: that would also reseed the GPUs, whose state
            # is not restored here.
            torch.default_generator.manual_seed(seed)
            return _builder(self.name)(self)

    def empty(self) -> Classifier:
        """Return the network with undefined weights, to be filled by a state dict.

        Saves the cost of random weights that `load_state_dict` would overwrite. Until
        then, every parameter and buffer holds whatever the memory held.
        """
        return copied(_skeleton(self), _undefined)

    def own(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the network's own weights, without what a method puts beside it."""
        return {key: weights[key] for key in _skeleton(self).state_dict()}

    def multiply_adds(self, side: int) -> int:
        """Count the multiplications of a forward pass on one image of this side."""
        counts: list[int] = []

        def count(layer: nn.Module, _: object, output: Tensor) -> None:
            counts.append(layer.get_parameter("weight").numel() * output[0, 0].numel())

        model = self.empty().eval()
        for layer in model.modules():
            if isinstance(layer, nn.Conv2d | nn.Linear):
                layer.register_forward_hook(count)
        with torch.inference_mode():
            model(torch.zeros(1, self.in_channels, side, side))
        return sum(counts)


MODELS: dict[str, Callable[[ModelSpec], Classifier]] = {
    "resnet18-cifar": lambda spec: resnet18_cifar(
        spec.num_classes, spec.in_channels, spec.width or 64
    ),
    "resnet18-imagenet": lambda spec: resnet18_imagenet(
        spec.num_classes, spec.in_channels, spec.width or 64
    ),
    "resnet8": lambda spec: resnet8(
        spec.num_classes, spec.in_channels, spec.width or 16
    ),
    "simple-cnn": lambda spec: simple_cnn(
        spec.num_classes, spec.in_channels, spec.image_size
    ),
}
"""All networks; to add one, add a line."""


@lru_cache(maxsize=16)
def _skeleton(spec: ModelSpec) -> Classifier:
    """Return the network without memory for its weights; never handed out."""
    with torch.device("meta"):
        return _builder(spec.name)(spec)


def _undefined(value: Tensor) -> Tensor:
    return torch.empty(value.shape, dtype=value.dtype)


def _builder(name: str) -> Callable[[ModelSpec], Classifier]:
    if name not in MODELS:
        known = ", ".join(sorted(MODELS))
        raise ConfigError(
            f"unknown model '{name}'{nearest(name, MODELS)}; known are {known}"
        )
    return MODELS[name]
