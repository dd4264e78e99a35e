"""RandAugment on whole batches, in the bits that PIL would give.

RandAugment (Cubuk et al., CVPR Workshops 2020, https://arxiv.org/abs/1909.13719)
without a global strength: every image draws three operations, each with its own
magnitude, and ends with Cutout (DeVries and Taylor, https://arxiv.org/abs/1708.04552).
Per draw the images are sorted by operation, so that one operation acts on one slice
of the batch and no Python loop runs over images.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

_Parts = dict[str, slice]

DRAWS = 3
"""How many operations an image draws, with replacement."""

RANGES: dict[str, tuple[float, float]] = {
    "Rotate": (-30.0, 30.0),
    "ShearX": (-0.3, 0.3),
    "ShearY": (-0.3, 0.3),
    "TranslateX": (-0.3, 0.3),
    "TranslateY": (-0.3, 0.3),
    "Brightness": (0.05, 0.95),
    "Color": (0.05, 0.95),
    "Contrast": (0.05, 0.95),
    "Sharpness": (0.05, 0.95),
    "AutoContrast": (0.0, 1.0),
    "Equalize": (0.0, 1.0),
    "Identity": (0.0, 1.0),
    "Posterize": (4.0, 8.0),
    "Solarize": (0.0, 256.0),
}
"""Lowest and highest magnitude of each operation, in the order of their numbers."""

CUTOUT_FILL = (125, 123, 114)
"""The color of the box that Cutout paints."""


def rand_augment(images: Tensor, generator: torch.Generator) -> Tensor:
    """Distort each image by three operations of its own, then cut out a box.

    Args:
        images: uint8 [B, C, H, W] with one or three channels, left as they are.
        generator: CPU generator; what is drawn depends on the batch size only.

    Returns:
        uint8 [B, C, H, W].
    """
    count = len(images)
    chosen = torch.randint(len(RANGES), (DRAWS, count), generator=generator)
    uniform = torch.rand(DRAWS, count, generator=generator, dtype=torch.float64)
    side, x, y = torch.rand(3, count, generator=generator, dtype=torch.float64)
    low, high = torch.tensor(list(RANGES.values()), dtype=torch.float64).unbind(1)
    magnitude = low[chosen] + (high - low)[chosen] * uniform
    for operations, values in zip(chosen, magnitude, strict=True):
        images = apply(images, operations, values)
    return cutout(images, side / 2, x, y)


def apply(images: Tensor, operations: Tensor, magnitudes: Tensor) -> Tensor:
    """Apply one operation to each image.

    Args:
        images: uint8 [B, C, H, W], left as they are.
        operations: [B] on the CPU, positions in `RANGES`.
        magnitudes: float64 [B] on the CPU, one for each image.

    Returns:
        uint8 [B, C, H, W], in the order of `images`.
    """
    order = operations.argsort(stable=True)
    values = magnitudes[order]
    result = images.index_select(0, order.to(images.device))
    ends = operations.bincount(minlength=len(RANGES)).cumsum(0).tolist()
    parts = dict(zip(RANGES, map(slice, [0, *ends[:-1]], ends), strict=True))
    # The geometric operations lead the order, so that all of them are one gather.
    moved = parts["TranslateY"].stop
    if moved:
        matrix = _matrices(values[:moved], parts, *images.shape[-2:])
        result[:moved] = _affine(result[:moved], matrix)
    factors = values.to(torch.float32).to(images.device).view(-1, 1, 1, 1)
    for name, recolor in _RECOLORS.items():
        group = result[parts[name]]
        if len(group):
            group.copy_(recolor(group, factors[parts[name]]))
    return result.index_select(0, order.argsort().to(images.device))


def cutout(images: Tensor, side: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Paint a gray square over each image.

    The corner is clipped at 0 before the side is added, and the last row and column
    belong to the square, as in PIL's `ImageDraw.rectangle`.

    Args:
        images: uint8 [B, C, H, W], left as they are.
        side: float64 [B] on the CPU, as a fraction of the width.
        x: float64 [B] on the CPU, center as a fraction of the width.
        y: float64 [B] on the CPU, center as a fraction of the height.

    Returns:
        uint8 [B, C, H, W].
    """
    height, width = images.shape[-2:]
    fill = torch.tensor(CUTOUT_FILL, dtype=torch.uint8).view(1, 3, 1, 1)
    if images.shape[1] == 1:
        fill = _luminance(fill).to(torch.uint8)
    across = _between(x * width, side * width, width)[:, None, None, :]
    down = _between(y * height, side * width, height)[:, None, :, None]
    # Arithmetic on bytes: `torch.where` takes fifteen times as long on a CPU.
    box = (across * down).to(images.device)  # [B, 1, H, W]
    return (images * (1 - box)).addcmul_(box, fill.to(box.device))


def _between(center: Tensor, side: Tensor, length: int) -> Tensor:
    """Return uint8 [B, length]: 1 where a box covers an axis, else 0."""
    first = (center - side / 2).clamp(min=0).floor()
    last = (first + side).floor()
    at = torch.arange(length)
    return ((at >= first[:, None]) & (at <= last[:, None])).to(torch.uint8)


def _matrices(values: Tensor, parts: _Parts, height: int, width: int) -> Tensor:
    """Return a, b, c, d, e, f of `_affine` for the geometric operations, [6, n]."""
    matrix = torch.zeros(6, len(values), dtype=torch.float64)
    matrix[[0, 4]] = 1.0
    matrix[1, parts["ShearX"]] = values[parts["ShearX"]]
    matrix[3, parts["ShearY"]] = values[parts["ShearY"]]
    # PIL shifts in floating point, so a shift is rounded to whole pixels here, before
    # the fixed point numbers of `_affine` could round it to the neighbor.
    across, down, turned = parts["TranslateX"], parts["TranslateY"], parts["Rotate"]
    matrix[2, across] = (values[across] * width + 0.5).floor()
    matrix[5, down] = (values[down] * height + 0.5).floor()
    angle = values[turned] * (-math.pi / 180)
    cos, sin, x, y = angle.cos(), angle.sin(), width / 2, height / 2
    c, f = x - cos * x - sin * y, y + sin * x - cos * y
    matrix[:, turned] = torch.stack([cos, sin, c, -sin, cos, f])
    return matrix


def _affine(images: Tensor, matrix: Tensor) -> Tensor:
    """Sample each image at (a x + b y + c, d x + e y + f), nearest, black outside.

    The coefficients [6, n] become 16.16 fixed point numbers taken at pixel centers,
    because PIL computes so; floating point would choose other pixels at ties.
    """
    count, channels, height, width = images.shape
    a, b, c, d, e, f = matrix
    centered = torch.stack([a, b, c + a * 0.5 + b * 0.5, d, e, f + d * 0.5 + e * 0.5])
    fixed = (centered * 65536 + 0.5).floor().to(torch.int32).to(images.device)
    a, b, c, d, e, f = fixed.view(6, count, 1, 1)
    x = torch.arange(width, dtype=torch.int32, device=images.device)
    y = torch.arange(height, dtype=torch.int32, device=images.device)[:, None]
    column = (a * x + (b * y + c)).bitwise_right_shift_(16)  # [n, H, W]
    row = (d * x + (e * y + f)).bitwise_right_shift_(16)
    near_column, near_row = column.clamp(0, width - 1), row.clamp(0, height - 1)
    outside = column.bitwise_xor_(near_column) | row.bitwise_xor_(near_row)
    inside = (outside == 0).to(torch.uint8)[:, None]
    index = near_row.mul_(width).add_(near_column).view(count, 1, -1).to(torch.int64)
    moved = images.flatten(2).gather(2, index.expand(-1, channels, -1))
    return moved.view_as(images).mul_(inside)


def _brightness(images: Tensor, factor: Tensor) -> Tensor:
    return (images * factor).to(torch.uint8)


def _color(images: Tensor, factor: Tensor) -> Tensor:
    return _blend(_luminance(images), images, factor)


def _contrast(images: Tensor, factor: Tensor) -> Tensor:
    # The sum of a picture's bytes does not fit float32 exactly.
    level = _luminance(images).mean(dim=(1, 2, 3), keepdim=True, dtype=torch.float64)
    return _blend((level + 0.5).floor().to(torch.float32), images, factor)


def _sharpness(images: Tensor, factor: Tensor) -> Tensor:
    smooth = images.to(torch.float32)
    rows = smooth[..., :-2, :] + smooth[..., 1:-1, :] + smooth[..., 2:, :]
    box = rows[..., :-2] + rows[..., 1:-1] + rows[..., 2:]
    inner = smooth[..., 1:-1, 1:-1]
    # PIL leaves the outermost pixels unsmoothed.
    inner.copy_(((box + 4 * inner) / 13 + 0.5).floor_())
    return _blend(smooth, images, factor)


def _auto_contrast(images: Tensor, _: Tensor) -> Tensor:
    low = images.amin(dim=(2, 3), keepdim=True).to(torch.float64)
    high = images.amax(dim=(2, 3), keepdim=True).to(torch.float64)
    # PIL truncates, so the last bit counts: double precision, in this order, and no
    # `255 / tensor`, which torch turns into a product with the reciprocal.
    scale = torch.where(high == low, 1.0, torch.full_like(low, 255.0) / (high - low))
    offset = torch.where(high == low, 0.0, -low * scale)
    return (images * scale).add_(offset).clamp_(0, 255).to(torch.uint8)


def _equalize(images: Tensor, _: Tensor) -> Tensor:
    planes = images.flatten(2).flatten(0, 1).to(torch.int64)  # [n C, H W]
    start = torch.arange(len(planes), device=images.device)[:, None] * 256
    flat = (planes + start).view(-1)
    counts = flat.bincount(minlength=256 * len(planes)).view(-1, 256)
    brightest = counts.gather(1, planes.amax(1, keepdim=True))
    step = (planes.shape[1] - brightest) // 255
    below = counts.cumsum(1) - counts
    table = ((below + step // 2) // step.clamp(min=1)).clamp_(max=255)
    table = torch.where(step > 0, table, torch.arange(256, device=images.device))
    return table.to(torch.uint8).gather(1, planes).view_as(images)


def _posterize(images: Tensor, bits: Tensor) -> Tensor:
    return images & (256 - torch.exp2(8 - bits.floor())).to(torch.uint8)


def _solarize(images: Tensor, threshold: Tensor) -> Tensor:
    # 255 - i is i with every bit turned over.
    return images ^ (images >= threshold).to(torch.uint8).mul_(255)


def _luminance(images: Tensor) -> Tensor:
    """Return PIL's gray value, float32 [n, 1, H, W]; no sum reaches 2**24."""
    if images.shape[1] == 1:
        return images.to(torch.float32)
    red, green, blue = images.to(torch.float32).unbind(1)
    total = (red * 19595).add_(green * 38470).add_(blue * 7471)
    return total.add_(32768).div_(65536).floor_()[:, None]


def _blend(degenerate: Tensor, images: Tensor, factor: Tensor) -> Tensor:
    """Mix `degenerate` (factor 0) and `images` (factor 1), truncated as in PIL."""
    return ((images - degenerate) * factor).add_(degenerate).to(torch.uint8)


_RECOLORS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "Brightness": _brightness,
    "Color": _color,
    "Contrast": _contrast,
    "Sharpness": _sharpness,
    "AutoContrast": _auto_contrast,
    "Equalize": _equalize,
    "Posterize": _posterize,
    "Solarize": _solarize,
}
