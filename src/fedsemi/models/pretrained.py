"""A pretrained encoder in three parts: frozen blocks, trained blocks, an adapter.

The frozen part has no place in the state dict. So it is never sent, never averaged and
never saved with a model; there is one of it in a process, whatever number of networks
share it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import torch
from torch import Tensor, nn

from fedsemi.errors import ConfigError
from fedsemi.models.classifier import Classifier
from fedsemi.models.copying import copied
from fedsemi.models.encoders import EncoderSpec
from fedsemi.models.outside import OutsideEncoder


class Frozen:
    """The frozen part: loaded when it is first asked, the same for all copies."""

    def __init__(self, load: Callable[[], nn.Module]) -> None:
        self._load = load
        self._there: dict[torch.device, nn.Module] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def on(self, device: torch.device) -> nn.Module:
        """Return the network, in test mode and without gradients."""
        if device not in self._there:
            self._there[device] = self._load().to(device)
        return self._there[device]

    def __call__(self, images: Tensor) -> Tensor:
        """Return what the frozen part makes of images, a row for each, [B, D]."""
        with torch.no_grad():
            found: Tensor = self.on(images.device)(images).flatten(1)
        return found


class Repeated(nn.Module):
    """Shows each channel several times: gray pictures to an encoder of color ones."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def forward(self, images: Tensor) -> Tensor:
        """Return the images with more channels."""
        return images.repeat(1, self.times, 1, 1) if self.times > 1 else images


class PretrainedEncoder(nn.Module):
    """Takes images, or rows that the frozen part has made of them before.

    Args:
        frozen: The blocks that are not trained; None if all are.
        shape: Of what the frozen part makes of one image.
        tail: The blocks that are trained.
        adapter: Makes the features.
        repeat: How often a channel is shown.
    """

    signed_features = False

    def __init__(
        self,
        frozen: Frozen | None,
        shape: Sequence[int],
        tail: nn.Module,
        adapter: nn.Module,
        repeat: int = 1,
    ) -> None:
        super().__init__()
        self.frozen = frozen
        self.shape = tuple(shape)
        self.repeated = Repeated(repeat)
        self.tail = tail
        self.adapter = adapter

    def forward(self, images: Tensor) -> Tensor:
        """Return the feature of each image, `[B, adapter]`, at least zero."""
        if self.frozen is None:
            seen = self.repeated(images)
        else:
            rows = images if images.ndim == 2 else self.rows(images)
            seen = rows.view(len(rows), *self.shape)
        found: Tensor = self.adapter(self.tail(seen))
        return found

    def rows(self, images: Tensor) -> Tensor:
        """Return what the frozen part makes of images, [B, D]."""
        assert self.frozen is not None
        return self.frozen(self.repeated(images))

    def whole(self) -> nn.Module:
        """Return one network with the frozen part inside, for where it is exported."""
        if self.frozen is None:
            return nn.Sequential(self.repeated, self.tail, self.adapter)
        device = next(self.adapter.parameters()).device
        # In the usual order of weights, for exporters know no other.
        trunk = copied(self.frozen.on(device), _contiguous)
        cut = nn.Flatten(), nn.Unflatten(1, self.shape)
        return nn.Sequential(self.repeated, trunk, *cut, self.tail, self.adapter)


def adapted(
    base: Classifier, spec: EncoderSpec, frozen: Frozen, image: Tensor, repeat: int
) -> Classifier:
    """Put an adapter and a new head on a network; its frozen blocks go elsewhere.

    Args:
        base: The network with its own head, of which the number of classes is taken.
        spec: What of it is trained.
        frozen: Makes the frozen blocks, with their pretrained weights.
        image: One for the encoder, [1, C, H, W], to learn the shape after those blocks.
        repeat: How often a channel is shown.
    """
    adapter = nn.Sequential(
        # Features of any encoder come to one scale.
        nn.LayerNorm(base.num_features),
        nn.Linear(base.num_features, spec.adapter),
        nn.ReLU(inplace=True),
    )
    kept, tail = parted(base.encoder, spec)
    encoder = PretrainedEncoder(
        None if kept is None else frozen, _shape(kept, image), tail, adapter, repeat
    )
    return Classifier(encoder, nn.Linear(spec.adapter, base.head.out_features))


def parted(network: nn.Module, spec: EncoderSpec) -> tuple[nn.Module | None, nn.Module]:
    """Part a network into blocks that stay as they are, and blocks that are trained.

    Raises:
        ConfigError: It has no blocks to part it at, or not so many.
    """
    trained = spec.trained_blocks
    if trained == "all":
        return None, network
    if trained == 0:
        return network, nn.Identity()
    blocks = blocks_of(network)
    if len(blocks) <= trained:
        raise ConfigError(
            f"model.encoder.trained_blocks = {trained}, but the network has "
            f"{_number(blocks)}; give a smaller number, 0, or 'all'",
            code="FS4193",
        )
    return nn.Sequential(*blocks[:-trained]), nn.Sequential(*blocks[-trained:])


def blocks_of(network: nn.Module) -> list[nn.Module]:
    """Return modules that make up a network one after the other; [] if unknown.

    They are the children of an `nn.Sequential`, or what its `blocks()` returns.
    """
    if isinstance(network, OutsideEncoder):
        return [] if network.by_name else blocks_of(network.network)
    named: Any = getattr(network, "blocks", None)
    if callable(named) and not isinstance(named, nn.Module):
        return list(named())
    return list(network.children()) if isinstance(network, nn.Sequential) else []


def pixels_of(
    network: nn.Module,
) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Return `pixel_mean` and `pixel_std` of an encoder that has them."""
    inner: Any = network.network if isinstance(network, OutsideEncoder) else network
    mean, std = getattr(inner, "pixel_mean", None), getattr(inner, "pixel_std", None)
    return None if mean is None or std is None else (tuple(mean), tuple(std))


def _contiguous(value: Tensor) -> Tensor:
    return value.clone(memory_format=torch.contiguous_format)


def _number(blocks: Sequence[nn.Module]) -> str:
    return f"{len(blocks)} blocks" if blocks else "no blocks to part it at"


def _shape(kept: nn.Module | None, image: Tensor) -> tuple[int, ...]:
    if kept is None:
        return ()
    was_training = kept.training
    with torch.no_grad():
        shape = tuple(kept.eval()(image).shape[1:])
    kept.train(was_training)
    return shape
