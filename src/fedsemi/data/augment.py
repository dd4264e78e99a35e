"""How images become network inputs: resizing, the three views, normalization.

Everything acts on whole batches of bytes, and every random number comes from one CPU
generator, so that the views of a batch are the same on every device.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from fedsemi.data.randaugment import rand_augment
from fedsemi.errors import ConfigError, DataError

_BITS = 22
_PRE_SIZE = {32: 40, 224: 250}
_ROOM = 2**26
"""Bytes of resized images that are kept while a client learns: 13,000 of side 40."""
_CHUNK = 128


@dataclass(frozen=True)
class Views:
    """How images become network inputs: the clean, the weak and the strong view.

    Training images are cropped from a larger picture and test images are not, so
    training shows objects `pre / size` times as large as testing does.

    Example:
        >>> views = Views(size=32, pre=40, mean=(0.5,), std=(0.25,))
        >>> images = torch.zeros(2, 1, 28, 28, dtype=torch.uint8)
        >>> views.clean(images).shape
        torch.Size([2, 1, 32, 32])
        >>> views.weak(images, torch.Generator().manual_seed(0))[0, 0, 0, 0].item()
        -2.0
    """

    size: int
    """Side of the network's input."""
    pre: int
    """Side to which training images are resized before a crop of `size` is taken."""
    mean: tuple[float, ...]
    """Mean of each channel, on a scale from 0 to 1."""
    std: tuple[float, ...]
    """Standard deviation of each channel, on the same scale."""
    flip: bool = True
    """Whether the weak and the strong view mirror half of the images."""

    def __post_init__(self) -> None:
        if not 0 < self.size <= self.pre:
            raise ConfigError(
                f"a crop of side {self.size} does not fit into images of side "
                f"{self.pre}; choose 0 < size <= pre"
            )
        if len(self.mean) not in (1, 3) or len(self.std) != len(self.mean):
            raise ConfigError(
                f"mean has {len(self.mean)} entries and std {len(self.std)}; give "
                "both one entry (gray) or three (color)"
            )
        if min(self.std) <= 0:
            raise ConfigError(f"std is {self.std}; every entry must be positive")

    def clean(self, images: Tensor) -> Tensor:
        """Resize straight to the input size and normalize.

        Args:
            images: uint8 [B, C, H, W].

        Returns:
            float32 [B, C, size, size].
        """
        self._check(images)
        return self.normalize(resize(images, self.size))

    def resized(self, images: Tensor) -> Tensor:
        """Resize images for the weak and the strong view, which then need not do it.

        Images that would take more than `_ROOM` bytes are returned as they are.

        Args:
            images: uint8 [N, C, H, W].

        Returns:
            uint8 [N, C, pre, pre], or `images`.
        """
        if not len(images) or len(images) * len(self.mean) * self.pre**2 > _ROOM:
            return images
        self._check(images)
        return torch.cat(
            [resize(part, self.pre) for part in torch.split(images, _CHUNK)]
        )

    def weak(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Resize, crop at a random place, mirror half of the images, normalize.

        Args:
            images: uint8 [B, C, H, W].
            generator: CPU generator; what is drawn depends on the batch size only.

        Returns:
            float32 [B, C, size, size].
        """
        self._check(images)
        return self.normalize(self._crop(resize(images, self.pre), generator))

    def strong(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Resize, distort by RandAugment and Cutout, then go on like the weak view.

        Args:
            images: uint8 [B, C, H, W].
            generator: CPU generator; what is drawn depends on the batch size only.

        Returns:
            float32 [B, C, size, size].
        """
        self._check(images)
        resized = resize(images, self.pre)
        # Many small operations: without autograd's bookkeeping they take a sixth less.
        with torch.inference_mode():
            distorted = rand_augment(resized, generator)
        return self.normalize(self._crop(distorted, generator))

    def _crop(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Cut a square of `size` from each image and mirror half of them."""
        count, channels, _, side = images.shape
        places = side - self.size + 1
        top, left = torch.randint(places, (2, count, 1), generator=generator)
        mirror = torch.rand(count, 1, generator=generator) < 0.5
        step = torch.arange(self.size)
        across = torch.where(mirror & self.flip, step.flip(0), step) + left
        index = (top + step)[:, :, None] * side + across[:, None]  # [B, size, size]
        index = index.flatten(1)[:, None].to(images.device).expand(-1, channels, -1)
        cropped = images.flatten(2).gather(2, index)
        return cropped.view(count, channels, self.size, self.size)

    def normalize(self, images: Tensor) -> Tensor:
        """Scale values from 0 to 255, bytes or not, to the network's input."""
        mean = torch.tensor(self.mean, device=images.device).view(-1, 1, 1)
        std = torch.tensor(self.std, device=images.device).view(-1, 1, 1)
        values = (images * (1 / (255 * std))).sub_(mean / std)
        # One layout, whatever the strides of the stored images: convolutions choose
        # their algorithm by layout, and another algorithm means other bits. Turned at
        # the end: arithmetic on channels that lie apart takes a third of the time.
        view = torch.empty(
            images.shape, device=images.device, memory_format=torch.channels_last
        )
        return view.copy_(values)

    def _check(self, images: Tensor) -> None:
        wanted = len(self.mean)
        fits = images.ndim == 4 and images.shape[1] == wanted
        if not fits or images.dtype != torch.uint8:
            raise DataError(
                f"images are {images.dtype} {list(images.shape)}, but these views "
                f"take torch.uint8 [B, {wanted}, H, W]; convert the images, or give "
                "mean and std one entry for each channel"
            )


def pre_size(size: int) -> int:
    """Return the side that leaves room for random crops as in the paper: 40 for 32."""
    return _PRE_SIZE.get(size, round(size * 1.25))


def resize(images: Tensor, side: int) -> Tensor:
    """Resize to side x side, in the bits of PIL's bilinear filter.

    Shrinking averages over all pixels (antialiasing), and bytes are rounded after the
    horizontal pass and again after the vertical one, as in PIL.

    Args:
        images: uint8 [B, C, H, W].
        side: height and width of the result.

    Returns:
        uint8 [B, C, side, side]; `images` itself if it has that size already.
    """
    if images.shape[-1] != side:
        images = _resize_rows(images.mT.contiguous(), side).mT.contiguous()
    return images if images.shape[-2] == side else _resize_rows(images, side)


def _resize_rows(images: Tensor, side: int) -> Tensor:
    """Make `side` rows of each image, as sums of few rows times whole numbers.

    Neither float32 nor fewer bits would do: 32 to 40 pixels has weights in tenths, so
    a tenth of all sums are ties, and the last bit of a weight decides how they round.
    """
    rows, weights = _triangle(images.shape[2], side)
    rows, weights = rows.to(images.device), weights.to(images.device)
    total = _times(images, rows[0], weights[0]).add_(2 ** (_BITS - 1))
    for row, weight in zip(rows[1:], weights[1:], strict=True):
        total.add_(_times(images, row, weight))
    return total.bitwise_right_shift_(_BITS).to(torch.uint8)


def _times(images: Tensor, row: Tensor, weight: Tensor) -> Tensor:
    return images.index_select(2, row).to(torch.int32).mul_(weight)


@lru_cache(maxsize=64)
def _triangle(source: int, target: int) -> tuple[Tensor, Tensor]:
    """Return the rows [K, target] that make each new row, and weights [K, target, 1].

    The weights are PIL's: int32 with `_BITS` bits behind the point.
    """
    scale = source / target
    reach = max(scale, 1.0)
    center = (torch.arange(target, dtype=torch.float64) + 0.5) * scale
    first = (center - reach + 0.5).floor().clamp_(min=0)
    row = first + torch.arange(2 * math.ceil(reach) + 1)[:, None]
    weight = (1 - (row + 0.5 - center).abs() / reach).clamp_(min=0) * (row < source)
    fixed = (weight / weight.sum(dim=0) * 2**_BITS + 0.5).floor().to(torch.int32)
    used = fixed.any(dim=1)
    return row.clamp(max=source - 1).long()[used], fixed[used][..., None]
