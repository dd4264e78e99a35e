"""Networks from outside: any torch module that turns images into features.

What makes one is a class or a function. It may return

- a backbone: a module that maps images [B, C, H, W] to features [B, d], to which a
  linear head is put;
- a module with `features(images)` and a linear `head`; or
- a `Classifier`.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from fedsemi.errors import ConfigError
from fedsemi.models.classifier import Classifier

OFFERED = ("num_classes", "in_channels", "image_size", "width")
"""What a network may be told by name, beside its own settings."""


class Recipe(Protocol):
    """What is read of a `ModelSpec` here."""

    @property
    def name(self) -> str:
        """As it stands in a config."""

    @property
    def num_classes(self) -> int:
        """C."""

    @property
    def in_channels(self) -> int:
        """One for gray images, three for color."""

    @property
    def image_size(self) -> int:
        """Height and width."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """The network's own settings."""

    @property
    def maker(self) -> Callable[..., nn.Module]:
        """What makes the network."""


class OutsideEncoder(nn.Module):
    """The features of a network from outside.

    Args:
        network: Its head, if it has one, was taken off.
        by_name: Whether `network.features` makes them, not the network itself.
    """

    def __init__(self, network: nn.Module, by_name: bool) -> None:
        super().__init__()
        self.network = network
        self.by_name = by_name
        self.signed_features = bool(getattr(network, "signed_features", True))
        self.num_features = 0
        """d; 0 until an image was seen."""

    def forward(self, images: Tensor) -> Tensor:
        """Return the feature of each image, `[B, d]`."""
        # Views are laid out channels last, on which `x.view(len(x), -1)` would fail.
        images = images.contiguous()
        exporting = torch.jit.is_tracing()  # type: ignore[no-untyped-call,attr-defined]
        if self.num_features and not exporting and not len(images):
            # `x.view(len(x), -1)` fails on a batch of nothing, too.
            return images.new_zeros(0, self.num_features)
        network: Any = self.network
        features: Tensor = (network.features if self.by_name else network)(images)
        return features


@cache
def parameters_of(maker: Callable[..., object]) -> tuple[str, ...]:
    """List what a maker takes by name; "**" if it takes anything."""
    found = []
    for name, parameter in inspect.signature(maker).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            found.append("**")
        elif parameter.kind in (
            parameter.POSITIONAL_OR_KEYWORD,
            parameter.KEYWORD_ONLY,
        ):
            found.append(name)
    return tuple(found)


def problem_of(maker: Any) -> str | None:
    """Say why something from outside makes no networks; None if it may."""
    if not callable(maker) or isinstance(maker, nn.Module):
        return "is neither a class nor a function that returns a torch module"
    if inspect.isclass(maker) and not issubclass(maker, nn.Module):
        return "is a class, but no torch module"
    try:
        parameters_of(maker)
    except (TypeError, ValueError):
        return "does not say which arguments it takes"
    return None


def as_classifier(spec: Recipe, offered: Mapping[str, Any]) -> Classifier:
    """Make a network from outside; put a head to it if it has none."""
    network = _called(spec, offered)
    by_name = callable(getattr(network, "features", None)) and hasattr(network, "head")
    if isinstance(network, Classifier):
        model = network
    elif by_name:
        model = _parted(spec.name, network)
    else:
        encoder = OutsideEncoder(network, by_name=False)
        found = _num_features(spec, encoder)
        stated = getattr(network, "num_features", found)
        if stated != found:
            raise _wrong(spec.name, f"says {stated} features, but makes {found}")
        return Classifier(encoder, nn.Linear(found, spec.num_classes))
    found = _num_features(spec, model.encoder)
    if (found, spec.num_classes) != (model.head.in_features, model.head.out_features):
        raise _wrong(
            spec.name,
            f"makes {found} features for {spec.num_classes} classes, but its head goes "
            f"from {model.head.in_features} to {model.head.out_features}",
        )
    return model


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let all that is drawn depend on a seed; global generators stay as they were."""
    before = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        # Not `torch.manual_seed`: that would also reseed the GPUs, whose state is not
        # restored here.
        torch.default_generator.manual_seed(seed)
        random.seed(seed)
        np.random.seed(seed % 2**32)
        try:
            yield
        finally:
            random.setstate(before[0])
            np.random.set_state(before[1])


def _called(spec: Recipe, offered: Mapping[str, Any]) -> nn.Module:
    try:
        network: Any = spec.maker(**offered, **spec.settings)
    except Exception as error:
        raise _wrong(spec.name, f"cannot be made ({_reason(error)})") from error
    if not isinstance(network, nn.Module):
        kind = type(network).__name__
        raise _wrong(spec.name, f"returned a {kind}, not a torch module")
    return network


def _parted(name: str, network: Any) -> Classifier:
    head = network.head
    if not isinstance(head, nn.Linear):
        kind = type(head).__name__
        raise _wrong(name, f"has a head that is a {kind}, not a Linear layer")
    network.head = nn.Identity()
    return Classifier(OutsideEncoder(network, by_name=True), head)


def _num_features(spec: Recipe, encoder: nn.Module) -> int:
    """Show the encoder an empty image; lazy layers learn their sizes by the way."""
    image = torch.zeros(1, spec.in_channels, spec.image_size, spec.image_size)
    was_training = encoder.training
    try:
        with torch.no_grad():
            features = encoder.eval()(image)
    except Exception as error:
        shape = list(image.shape)
        raise _wrong(
            spec.name, f"fails on images {shape} ({_reason(error)})"
        ) from error
    encoder.train(was_training)
    if not isinstance(features, Tensor) or features.ndim != 2 or len(features) != 1:
        found = list(getattr(features, "shape", ())) or type(features).__name__
        raise _wrong(spec.name, f"makes {found} of one image, not features [1, d]")
    if isinstance(encoder, OutsideEncoder):
        encoder.num_features = int(features.shape[1])
    return int(features.shape[1])


def _reason(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def _wrong(name: str, what: str) -> ConfigError:
    return ConfigError(
        f"the model '{name}' {what}; see 'Own networks' in docs/adding-a-method.md",
        code="FS4162",
    )
