"""The two views of self-supervised learning, on whole batches.

As in Barlow Twins (Zbontar et al., ICML 2021) and Orchestra (Lubana et al., ICML 2022):
a crop of random size, a flip, jittered colors, gray, blur and solarization. Three
differences: crops are bilinear, the colors are jittered in one order for all images,
and hue turns in the YIQ plane instead of HSV, which needs no case by case conversion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from fedsemi.data.augment import Views

_CROP_RATIO = (3 / 4, 4 / 3)
_JITTER = {"brightness": 0.4, "contrast": 0.4, "saturation": 0.2, "hue": 0.1}
_LUMA = (0.299, 0.587, 0.114)
_BLUR = (0.1, 2.0)
_YIQ = ((0.299, 0.587, 0.114), (0.596, -0.274, -0.322), (0.211, -0.523, 0.312))


@dataclass(frozen=True)
class Recipe:
    """In what the views of two methods differ; pairs are for first and second view."""

    crop_from: float
    """Least share of an image's area that a crop keeps."""
    blurred: tuple[float, float]
    """How often."""
    blur_radius: int
    """Pixels to each side that blur takes in."""


BARLOW_TWINS = Recipe(crop_from=0.08, blurred=(1.0, 0.1), blur_radius=6)
ORCHESTRA = Recipe(crop_from=0.5, blurred=(0.5, 0.1), blur_radius=1)


def two_views(
    images: Tensor,
    views: Views,
    generator: torch.Generator,
    recipe: Recipe = BARLOW_TWINS,
) -> tuple[Tensor, Tensor]:
    """Draw two views of each image; only the second is ever solarized.

    Args:
        images: uint8 [B, C, H, W] with one or three channels.
        views: Size and normalization of the network's input.
        generator: CPU generator; what is drawn depends on the batch size only.
        recipe: Of which method.

    Returns:
        Two times float32 [B, C, size, size].
    """
    first = first_view(images, views, generator, recipe)
    return first, _view(images, views, generator, recipe, recipe.blurred[1], 0.2)


def first_view(
    images: Tensor, views: Views, generator: torch.Generator, recipe: Recipe
) -> Tensor:
    """Draw the first of the two views alone."""
    return _view(images, views, generator, recipe, recipe.blurred[0], 0.0)


@torch.no_grad()
def _view(
    images: Tensor,
    views: Views,
    generator: torch.Generator,
    recipe: Recipe,
    blur: float,
    solarize: float,
) -> Tensor:
    draw = torch.rand(len(images), 14, generator=generator).to(images.device)
    pixels = _crop(images.float() / 255, views, recipe.crop_from, draw[:, :5])
    if pixels.shape[1] == 3:
        jittered = _jitter(pixels, draw[:, 5:9])
        pixels = _choose(draw[:, 9] < 0.8, jittered, pixels)
        pixels = _choose(draw[:, 10] < 0.2, _gray(pixels).expand_as(pixels), pixels)
    soft = _blurred(pixels, recipe.blur_radius, draw[:, 12])
    pixels = _choose(draw[:, 11] < blur, soft, pixels)
    inverted = torch.where(pixels >= 0.5, 1 - pixels, pixels)
    pixels = _choose(draw[:, 13] < solarize, inverted, pixels)
    return views.normalize(pixels * 255)


def _crop(pixels: Tensor, views: Views, least: float, draw: Tensor) -> Tensor:
    """Cut a box of random area, shape and place, and mirror half of the images."""
    area = _between(least, 1.0, draw[:, 0])
    low, high = (math.log(value) for value in _CROP_RATIO)
    ratio = _between(low, high, draw[:, 1]).exp()
    width = (area * ratio).sqrt().clamp(max=1)
    height = (area / ratio).sqrt().clamp(max=1)
    x, y = (2 * draw[:, 2] - 1) * (1 - width), (2 * draw[:, 3] - 1) * (1 - height)
    mirrored = (draw[:, 4] < 0.5) & views.flip
    theta = pixels.new_zeros(len(pixels), 2, 3)
    theta[:, 0, 0] = torch.where(mirrored, -width, width)
    theta[:, 1, 1] = height
    theta[:, 0, 2], theta[:, 1, 2] = x, y
    shape = [*pixels.shape[:2], views.size, views.size]
    grid = F.affine_grid(theta, shape, align_corners=False)
    return F.grid_sample(pixels, grid, padding_mode="reflection", align_corners=False)


def _jitter(pixels: Tensor, draw: Tensor) -> Tensor:
    strength = torch.tensor(list(_JITTER.values()), device=pixels.device)
    change = ((2 * draw - 1) * strength)[:, :, None, None, None]  # [B, 4, 1, 1, 1]
    pixels = (pixels * (1 + change[:, 0])).clamp(0, 1)
    mean = _gray(pixels).mean((1, 2, 3), keepdim=True)
    pixels = (mean + (pixels - mean) * (1 + change[:, 1])).clamp(0, 1)
    gray = _gray(pixels)
    pixels = (gray + (pixels - gray) * (1 + change[:, 2])).clamp(0, 1)
    return _turn_hue(pixels, change[:, 3].flatten() * 2 * math.pi)


def _turn_hue(pixels: Tensor, angle: Tensor) -> Tensor:
    to_yiq = torch.tensor(_YIQ, device=pixels.device)
    turn = torch.eye(3, device=pixels.device).repeat(len(pixels), 1, 1)
    turn[:, 1, 1] = turn[:, 2, 2] = angle.cos()
    turn[:, 1, 2], turn[:, 2, 1] = -angle.sin(), angle.sin()
    matrix = torch.linalg.inv(to_yiq) @ turn @ to_yiq  # [B, 3, 3]
    return torch.einsum("bij,bjhw->bihw", matrix, pixels).clamp(0, 1)


def _blurred(pixels: Tensor, radius: int, draw: Tensor) -> Tensor:
    """Blur each image with a Gaussian of its own width, rows then columns."""
    count, channels, side, _ = pixels.shape
    radius = min(radius, side - 1)
    step = torch.arange(-radius, radius + 1, device=pixels.device)
    sigma = _between(*_BLUR, draw)[:, None]
    kernel = (-(step**2) / (2 * sigma**2)).exp()
    kernel = (kernel / kernel.sum(1, keepdim=True)).repeat_interleave(channels, 0)
    flat = pixels.reshape(1, count * channels, side, side)
    for shape, pad in (
        ((-1, 1, 1, 2 * radius + 1), (radius, radius, 0, 0)),
        ((-1, 1, 2 * radius + 1, 1), (0, 0, radius, radius)),
    ):
        padded = F.pad(flat, pad, mode="reflect")
        flat = F.conv2d(padded, kernel.view(shape), groups=count * channels)
    return flat.view_as(pixels)


def _gray(pixels: Tensor) -> Tensor:
    luma = torch.tensor(_LUMA, device=pixels.device).view(1, 3, 1, 1)
    return (pixels * luma).sum(1, keepdim=True)


def _choose(chosen: Tensor, yes: Tensor, no: Tensor) -> Tensor:
    return torch.where(chosen[:, None, None, None], yes, no)


def _between(low: float, high: float, draw: Tensor) -> Tensor:
    return low + (high - low) * draw
