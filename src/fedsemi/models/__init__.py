"""Networks by name, and the picklable recipe from which every process builds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from fedsemi.errors import ConfigError
from fedsemi.models.classifier import Classifier, Output
from fedsemi.models.copying import copied, undefined
from fedsemi.models.efficientnet_lite import efficientnet_lite0
from fedsemi.models.encoder_files import SCHEMES, EncoderFile
from fedsemi.models.encoders import EncoderSpec, fill, read_encoder, with_sha256
from fedsemi.models.folding import folded
from fedsemi.models.outside import (
    OFFERED,
    as_classifier,
    parameters_of,
    problem_of,
    seeded,
)
from fedsemi.models.pretrained import Frozen, adapted, parted, pixels_of
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

    encoder: EncoderSpec | None = None
    """Where its pretrained weights are and what of them is trained; None for none."""

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
        """Return the fields, to be written as JSON; what is left out stays out.

        Plans and cards that were written before there was any stay the same.
        """
        content = asdict(self)
        for name in ("settings", "encoder"):
            if not content[name]:
                del content[name]
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> ModelSpec:
        """Read what `as_dict` wrote."""
        encoder = content.get("encoder")
        if encoder is None:
            return cls(**content)
        known: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in encoder.items()
        }
        return cls(**{**content, "encoder": EncoderSpec(**known)})

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

        What is frozen of a pretrained encoder is as pretrained. The global random
        number generators are left as they were.
        """
        with seeded(seed):
            return _made(self)

    def start(self, seed: int) -> dict[str, Tensor]:
        """Return the weights to begin with: pretrained where there are such.

        All else is as `build` makes it.
        """
        fresh = self.build(seed).state_dict()
        if self.encoder is None or self.encoder.trained_blocks == 0:
            return fresh
        _, tail = parted(_pretrained(self), self.encoder)
        known = {f"encoder.tail.{k}": v for k, v in tail.state_dict().items()}
        return {key: known.get(key, value) for key, value in fresh.items()}

    def located(self) -> ModelSpec:
        """Note the hash of the encoder's file, as it lies here."""
        if self.encoder is None:
            return self
        maker = self.maker
        file = maker.file if isinstance(maker, EncoderFile) else self.encoder.weights
        if file is None:
            return self
        return replace(self, encoder=with_sha256(self.encoder, file))

    def for_others(self) -> ModelSpec:
        """Return the recipe as another machine gets it: a file's name, not its place.

        It has its own folder of encoders; a plan must not point at any file there.
        """
        if self.encoder is None or self.encoder.weights is None:
            return self
        name = Path(self.encoder.weights).name
        return replace(self, encoder=replace(self.encoder, weights=name))

    @property
    def encoder_sha256(self) -> str:
        """Hash of the pretrained encoder that is meant; "" without one."""
        return (self.encoder.sha256 or "") if self.encoder else ""

    @property
    def pixels(self) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
        """Mean and deviation that a pretrained encoder wants; None if it says none."""
        encoder = self.encoder
        if encoder is None:
            return None
        if encoder.mean is not None and encoder.std is not None:
            return encoder.mean, encoder.std
        bare = replace(self, encoder=None)
        return pixels_of(_skeleton(bare, bare.maker).encoder)

    def empty(self) -> Classifier:
        """Return the network with undefined weights, to be filled by a state dict.

        Saves the cost of random weights that `load_state_dict` would overwrite. Until
        then, every parameter and buffer holds whatever the memory held.
        """
        skeleton = _skeleton(self, self.maker)
        return copied(skeleton, undefined) if self.is_ours else copied(skeleton)

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


MODELS: Registry[Callable[..., nn.Module]] = Registry(
    "model",
    {
        "efficientnet-lite0": efficientnet_lite0,
        "resnet18-cifar": resnet18_cifar,
        "resnet18-imagenet": resnet18_imagenet,
        "resnet8": resnet8,
        "simple-cnn": simple_cnn,
    },
    problem_of,
    SCHEMES,
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
    if spec.encoder is not None:
        return _adapted(spec, spec.encoder)
    taken = parameters_of(spec.maker)
    offered = {name: getattr(spec, name) for name in OFFERED if name in taken}
    if spec.width is None:
        offered.pop("width", None)
    if not spec.is_ours:
        return as_classifier(spec, offered)
    network: Any = spec.maker(**offered)
    assert isinstance(network, Classifier)
    return network


def _adapted(spec: ModelSpec, encoder: EncoderSpec) -> Classifier:
    """Make a pretrained network: random in what is trained, else as in its file."""
    bare = _bare(spec)
    image = torch.zeros(1, bare.in_channels, spec.image_size, spec.image_size)
    repeat = bare.in_channels // spec.in_channels
    frozen = _frozen(spec, spec.maker)
    return adapted(_made(bare), encoder, frozen, image, repeat)


def _bare(spec: ModelSpec) -> ModelSpec:
    """Return the network without anything pretrained, for images as its file wants."""
    channels = len(spec.pixels[0]) if spec.pixels else spec.in_channels
    return replace(spec, encoder=None, in_channels=channels)


def _pretrained(spec: ModelSpec) -> nn.Module:
    """Make the encoder alone, with all of its pretrained weights."""
    bare, encoder = _bare(spec), spec.encoder
    assert encoder is not None
    network = bare.laid_out(bare.build(0)).encoder
    if isinstance(spec.maker, EncoderFile):
        spec.maker.check(encoder)
    else:
        fill(network, read_encoder(encoder), str(encoder.weights))
    return network


@lru_cache(maxsize=16)
def _frozen(spec: ModelSpec, maker: Callable[..., nn.Module]) -> Frozen:
    """Return the one frozen part of this process."""

    def load() -> nn.Module:
        assert spec.encoder is not None
        kept, _ = parted(_pretrained(spec).eval().requires_grad_(False), spec.encoder)
        assert kept is not None
        return folded(kept) if spec.is_ours else kept

    return Frozen(load)
