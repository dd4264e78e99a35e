"""Every operation against PIL, on noise and on structured images, gray and color.

Tolerances. Geometry, tables and Cutout: equal bits. The four enhancements: one gray
level, because PIL truncates a float32 sum whose last bit depends on its compiler.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageEnhance, ImageOps
from torch import Tensor

from fedsemi.data.randaugment import (
    CUTOUT_FILL,
    DRAWS,
    RANGES,
    apply,
    cutout,
    rand_augment,
)

AFFINE = Image.Transform.AFFINE

PIL_CALLS = {
    "Rotate": lambda img, v: img.rotate(v),
    "ShearX": lambda img, v: img.transform(img.size, AFFINE, (1, v, 0, 0, 1, 0)),
    "ShearY": lambda img, v: img.transform(img.size, AFFINE, (1, 0, 0, v, 1, 0)),
    "TranslateX": lambda img, v: img.transform(
        img.size, AFFINE, (1, 0, v * img.width, 0, 1, 0)
    ),
    "TranslateY": lambda img, v: img.transform(
        img.size, AFFINE, (1, 0, 0, 0, 1, v * img.height)
    ),
    "Brightness": lambda img, v: ImageEnhance.Brightness(img).enhance(v),
    "Color": lambda img, v: ImageEnhance.Color(img).enhance(v),
    "Contrast": lambda img, v: ImageEnhance.Contrast(img).enhance(v),
    "Sharpness": lambda img, v: ImageEnhance.Sharpness(img).enhance(v),
    "AutoContrast": lambda img, v: ImageOps.autocontrast(img),
    "Equalize": lambda img, v: ImageOps.equalize(img),
    "Identity": lambda img, v: img,
    "Posterize": lambda img, v: ImageOps.posterize(img, int(v)),
    "Solarize": lambda img, v: ImageOps.solarize(img, v),
}

WITHIN_ONE = {"Brightness", "Color", "Contrast", "Sharpness"}


def to_pil(image: Tensor) -> Image.Image:
    array = image.permute(1, 2, 0).numpy()
    return Image.fromarray(array[..., 0] if array.shape[2] == 1 else array.copy())


def from_pil(image: Image.Image) -> Tensor:
    array = np.array(image)
    return torch.from_numpy(array.reshape(*array.shape[:2], -1)).permute(2, 0, 1)


def pictures(channels: int, height: int, width: int) -> Tensor:
    """Noise, narrow noise, flat, black, white, two-valued, ramp, box, sparse."""
    g = torch.Generator().manual_seed(height)
    shape = (channels, height, width)
    noise = torch.randint(256, shape, generator=g)
    narrow = torch.randint(90, 141, shape, generator=g)
    rows, columns = torch.arange(height)[:, None], torch.arange(width)
    ramp = (rows * 3 + columns * 4).expand(shape) % 256
    box = torch.full(shape, 30)
    box[:, height // 4 : height // 2, width // 3 :] = 200
    sparse = torch.zeros(shape, dtype=torch.int64)
    sparse[:, 3, 5] = 77
    levels = [torch.full(shape, level) for level in (0, 131, 255)]
    two = (noise % 2) * 60 + 40
    shaded = (noise // 4 + ramp // 2).clamp(max=255)
    all_of_them = [noise, narrow, *levels, two, ramp, box, sparse, shaded]
    return torch.stack(all_of_them).to(torch.uint8)


def magnitudes(name: str) -> list[float]:
    low, high = RANGES[name]
    fixed = torch.linspace(low, high, 12, dtype=torch.float64).tolist()[:-1]
    ties = [v for v in (0.0, 0.0125, 0.25, -0.25, 127.0, 128.5) if low <= v < high]
    return [*fixed, *ties]


def run(name: str, images: Tensor, value: float) -> Tensor:
    operations = torch.full((len(images),), list(RANGES).index(name))
    return apply(
        images, operations, torch.full((len(images),), value, dtype=torch.float64)
    )


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(("height", "width"), [(40, 40), (33, 47)])
def test_operation_matches_pil(
    name: str, channels: int, height: int, width: int
) -> None:
    images = pictures(channels, height, width)
    tolerance = 1 if name in WITHIN_ONE else 0
    for value in magnitudes(name):
        found = run(name, images, value).to(torch.int64)
        wanted = torch.stack(
            [from_pil(PIL_CALLS[name](to_pil(image), value)) for image in images]
        )
        worst = (found - wanted).abs().amax().item()
        assert worst <= tolerance, f"{name} by {value} is off by {worst}"


@pytest.mark.parametrize("name", RANGES)
def test_operation_matches_pil_at_the_side_used_for_large_images(name: str) -> None:
    images = pictures(3, 250, 250)
    value = sum(RANGES[name]) / 2 + 0.137
    found = run(name, images, value).to(torch.int64)
    wanted = torch.stack(
        [from_pil(PIL_CALLS[name](to_pil(image), value)) for image in images]
    )
    assert (found - wanted).abs().amax() <= (1 if name in WITHIN_ONE else 0)


@pytest.mark.parametrize("name", RANGES)
def test_random_magnitudes_match_pil(name: str) -> None:
    g = torch.Generator().manual_seed(7)
    low, high = RANGES[name]
    images = torch.randint(256, (100, 3, 40, 40), generator=g, dtype=torch.uint8)
    values = torch.rand(100, generator=g, dtype=torch.float64) * (high - low) + low
    operations = torch.full((100,), list(RANGES).index(name))
    found = apply(images, operations, values).to(torch.int64)
    calls = zip(images, values.tolist(), strict=True)
    wanted = torch.stack([from_pil(PIL_CALLS[name](to_pil(i), v)) for i, v in calls])
    assert (found - wanted).abs().amax() <= (1 if name in WITHIN_ONE else 0)


def test_images_keep_their_place_when_operations_are_mixed() -> None:
    g = torch.Generator().manual_seed(1)
    images = torch.randint(256, (60, 3, 20, 20), generator=g, dtype=torch.uint8)
    before = images.clone()
    operations = torch.randint(len(RANGES), (60,), generator=g)
    low, high = torch.tensor(list(RANGES.values()), dtype=torch.float64).unbind(1)
    values = low[operations] + 0.3 * (high - low)[operations]

    together = apply(images, operations, values)

    for i in range(60):
        alone = apply(
            images[i : i + 1], operations[i : i + 1], values[i : i + 1]
        ).squeeze(0)
        assert torch.equal(together[i], alone)
    assert torch.equal(images, before)


@pytest.mark.parametrize("channels", [1, 3])
def test_cutout_matches_a_pil_rectangle(channels: int) -> None:
    g = torch.Generator().manual_seed(2)
    images = torch.randint(256, (200, channels, 30, 50), generator=g)
    images = images.to(torch.uint8)
    side, x, y = torch.rand(3, 200, generator=g, dtype=torch.float64)
    found = cutout(images, side / 2, x, y)
    gray = Image.new("RGB", (1, 1), CUTOUT_FILL).convert("L").getpixel((0, 0))
    for i, image in enumerate(images):
        length = side[i].item() / 2 * 50
        left = int(max(0.0, x[i].item() * 50 - length / 2))
        top = int(max(0.0, y[i].item() * 30 - length / 2))
        wanted = to_pil(image)
        ImageDraw.Draw(wanted).rectangle(
            (left, top, left + length, top + length),
            CUTOUT_FILL if channels == 3 else gray,
        )
        assert torch.equal(found[i], from_pil(wanted))


def test_cutout_at_the_corner_keeps_its_side() -> None:
    # Side 0.2 of 10 pixels is 2: the corner is clipped from -1 to 0 before the side
    # is added, and PIL paints the end too, so rows and columns 0, 1, 2 are covered.
    image = torch.zeros(1, 1, 10, 10, dtype=torch.uint8)
    fraction = torch.tensor([0.2], dtype=torch.float64)
    origin = torch.zeros(1, dtype=torch.float64)
    found = cutout(image, fraction, origin, origin)[0, 0] > 0
    assert found[:3, :3].all()
    assert found.sum() == 9


def test_there_are_fourteen_operations_and_three_draws() -> None:
    assert len(RANGES) == 14
    assert DRAWS == 3
    assert set(RANGES) == set(PIL_CALLS)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    count=st.integers(0, 9),
    channels=st.sampled_from([1, 3]),
    side=st.integers(3, 24),
)
def test_same_seed_gives_the_same_bits(
    seed: int, count: int, channels: int, side: int
) -> None:
    images = torch.randint(256, (count, channels, side, side), dtype=torch.uint8)
    before = images.clone()
    first = rand_augment(images, torch.Generator().manual_seed(seed))
    second = rand_augment(images, torch.Generator().manual_seed(seed))
    assert first.shape == images.shape
    assert first.dtype == torch.uint8
    assert torch.equal(first, second)
    assert torch.equal(images, before)


def test_what_is_drawn_depends_on_the_batch_size_only() -> None:
    states = []
    for shape in [(6, 1, 8, 8), (6, 3, 20, 30)]:
        g = torch.Generator().manual_seed(3)
        rand_augment(torch.zeros(shape, dtype=torch.uint8), g)
        states.append(g.get_state())
    assert torch.equal(*states)


def test_every_image_draws_for_itself() -> None:
    g = torch.Generator().manual_seed(4)
    image = torch.randint(256, (1, 3, 40, 40), generator=g, dtype=torch.uint8)
    copies = rand_augment(image.expand(32, -1, -1, -1), g)
    assert len({copy.numpy().tobytes() for copy in copies}) == 32
