"""Networks by name, and the picklable recipe from which every process builds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn

from fedsemi.errors import ConfigError
from fedsemi.models.classifier import Classifier, Output
from fedsemi.models.copying import copied
from fedsemi.models.outside import (
    OFFERED,
    as_classifier,
    parameters_of,
    problem_of,
    seeded,
)
from fedsemi.models.resnet import resnet8, resnet18_cifar, resnet18_imagenet
from fedsemi.models.simple_cnn import simple_cnn
from fedsemi.plugins.registry import Registry

__all__ = ["MODELS", "Classifier", "ModelSpec", "Output", "settings_of"]


@dataclass(frozen=True)
class ModelSpec:
    """The recipe of a network: small, picklable, and the same on all clients.

    Raises:
        ConfigError: The name is unknown, or a number is impossible.
    """

    name: str
    """A key of `MODELS`, or module:Name."""

    num_classes: int
    """Classes to tell apart."""

    in_channels: int = 3
    """One for gray images, three for color."""

    width: int | None = None
    """Channels of the first stage of a residual network; None for its own default."""

    image_size: int = 32
    """Height and width of the images; of ours, only simple-cnn depends on it."""

    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a network from outside is told beside these."""

    def __post_init__(self) -> None:
        for name in ("num_classes", "in_channels", "width", "image_size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be at least 1, found {value}")
        taken = parameters_of(self.maker)
        if self.width is not None and "width" not in taken:
            raise ConfigError(
                f"{self.name} has fixed widths, found width {self.width}; leave it out"
            )

    @property
    def maker(self) -> Callable[..., nn.Module]:
        """What makes the network: a function or a class."""
        return MODELS[self.name]

    @property
    def is_ours(self) -> bool:
        """Whether the network comes with fedsemi, so that its ways are known."""
        return self.name in MODELS.own

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, to be written as JSON; `settings` only if there are any.

        Plans and cards that were written before there were any stay the same.
        """
        content = asdict(self)
        if not self.settings:
            del content["settings"]
        return content

    @property
    def signed_features(self) -> bool:
        """Whether features may be negative, and with them a cosine of two of them.

        A network that knows better says so by an attribute of this name.
        """
        return bool(getattr(_skeleton(self, self.maker).encoder, "signed_features", 1))

    @property
    def num_features(self) -> int:
        """d, the length of a feature."""
        return _skeleton(self, self.maker).num_features

    @property
    def num_parameters(self) -> int:
        """Count the weights; nothing is allocated."""
        return sum(
            value.numel() for value in _skeleton(self, self.maker).state_dict().values()
        )

    def build(self, seed: int) -> Classifier:
        """Return the network with random weights that depend on `seed` alone.

        The global random number generators are left as they were.
        """
        with seeded(seed):
            return _made(self)

    def empty(self) -> Classifier:
        """Return the network with undefined weights, to be filled by a state dict.

        Saves the cost of random weights that `load_state_dict` would overwrite. Until
        then, every parameter and buffer holds whatever the memory held.
        """
        skeleton = _skeleton(self, self.maker)
        return copied(skeleton, _undefined) if self.is_ours else copied(skeleton)

    def laid_out(self, model: Classifier) -> Classifier:
        """Lay the weights out as it is fastest: ours with channels last.

        Small convolutions then run a quarter faster on the CPU. A network from outside
        may rely on the usual order of its images.
        """
        if not self.is_ours:
            return model
        return model.to(memory_format=torch.channels_last)  # type: ignore[call-overload,no-any-return]

    def own(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the network's own weights, without what a method puts beside it."""
        return {key: weights[key] for key in _skeleton(self, self.maker).state_dict()}

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


MODELS: Registry[Callable[..., nn.Module]] = Registry(
    "model",
    {
        "resnet18-cifar": resnet18_cifar,
        "resnet18-imagenet": resnet18_imagenet,
        "resnet8": resnet8,
        "simple-cnn": simple_cnn,
    },
    problem_of,
)
"""The networks that come with fedsemi; others enter as plug-ins.

Each is called with those of `OFFERED` that it takes by name.
"""


def settings_of(name: str) -> list[str] | None:
    """List the settings that a network takes beside the usual; None for any."""
    if name in MODELS.own:
        return []
    taken = parameters_of(MODELS[name])
    return None if "**" in taken else [key for key in taken if key not in OFFERED]


@lru_cache(maxsize=16)  # by the maker as well, which a notebook may define anew
def _skeleton(spec: ModelSpec, maker: Callable[..., nn.Module]) -> Classifier:
    """Return the network to count and copy, never handed out.

    Ours takes no memory for its weights. Not every network can be made so; one from
    outside may also have tensors that no state dict fills.
    """
    if not spec.is_ours:
        return spec.build(0)
    with torch.device("meta"):
        return _made(spec)


def _made(spec: ModelSpec) -> Classifier:
    taken = parameters_of(spec.maker)
    offered = {name: getattr(spec, name) for name in OFFERED if name in taken}
    if spec.width is None:
        offered.pop("width", None)
    if not spec.is_ours:
        return as_classifier(spec, offered)
    network: Any = spec.maker(**offered)
    assert isinstance(network, Classifier)
    return network


def _undefined(value: Tensor) -> Tensor:
    return torch.empty(value.shape, dtype=value.dtype)
