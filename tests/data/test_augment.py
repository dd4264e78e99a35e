"""The three views, and resizing against PIL (tolerance: none, the bits are equal)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from torch import Tensor

from fedsemi.data.augment import Views, resize
from fedsemi.errors import ConfigError, DataError

COLOR = Views(size=32, pre=40, mean=(0.4, 0.5, 0.6), std=(0.2, 0.25, 0.3))
GRAY = Views(size=32, pre=40, mean=(0.5,), std=(0.25,))
RAW = Views(size=8, pre=10, mean=(0.0,), std=(1.0,))


def noise(*shape: int, seed: int = 0) -> Tensor:
    g = torch.Generator().manual_seed(seed)
    return torch.randint(256, shape, generator=g, dtype=torch.uint8)


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def view(views: Views, name: str, images: Tensor, seed: int) -> Tensor:
    if name == "clean":
        return views.clean(images)
    return getattr(views, name)(images, seeded(seed))


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(
    ("height", "width", "side"),
    [
        (32, 32, 40),
        (28, 28, 40),
        (28, 28, 32),
        (40, 40, 32),
        (300, 200, 64),
        (64, 64, 32),
        (17, 91, 33),
        (32, 20, 32),
        (20, 32, 32),
        (450, 600, 250),
        (1, 1, 5),
    ],
)
def test_resize_gives_the_bits_of_pil_bilinear(
    channels: int, height: int, width: int, side: int
) -> None:
    ramp = (torch.arange(height)[:, None] + 2 * torch.arange(width)) % 256
    ramp = ramp.to(torch.uint8).expand(1, channels, -1, -1)
    images = torch.cat([noise(2, channels, height, width), ramp])
    found = resize(images, side).numpy()
    for image, mine in zip(images.numpy(), found, strict=True):
        for plane, resized in zip(image, mine, strict=True):
            pil = Image.fromarray(plane).resize((side, side), Image.Resampling.BILINEAR)
            assert np.array_equal(np.asarray(pil), resized)


def test_resize_leaves_a_fitting_image_alone() -> None:
    images = noise(2, 3, 40, 40)
    assert resize(images, 40) is images


@pytest.mark.parametrize("level", [0, 1, 127, 254, 255])
def test_resize_keeps_a_flat_image_flat(level: int) -> None:
    images = torch.full((1, 1, 37, 53), level, dtype=torch.uint8)
    for side in (7, 40, 224):
        assert (resize(images, side) == level).all()


def test_resize_does_not_depend_on_the_rest_of_the_batch() -> None:
    images = noise(70, 3, 32, 32)
    alone = torch.cat([resize(image[None], 40) for image in images])
    assert torch.equal(resize(images, 40), alone)


def test_clean_view_scales_and_normalizes_each_channel() -> None:
    images = noise(3, 3, 32, 32)
    mean = torch.tensor(COLOR.mean)[:, None, None]
    std = torch.tensor(COLOR.std)[:, None, None]
    wanted = (images.float() / 255 - mean) / std
    # Tolerance: rounding of float32, since one multiplication replaces two divisions.
    torch.testing.assert_close(COLOR.clean(images), wanted, atol=2e-6, rtol=0)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    count=st.integers(0, 7),
    gray=st.booleans(),
    side=st.integers(4, 48),
    name=st.sampled_from(["clean", "weak", "strong"]),
)
def test_view_has_the_input_shape_and_repeats_with_its_seed(
    seed: int, count: int, gray: bool, side: int, name: str
) -> None:
    views = GRAY if gray else COLOR
    images = noise(count, len(views.mean), side, side, seed=seed)
    before = images.clone()
    first = view(views, name, images, seed)
    assert first.shape == (count, len(views.mean), 32, 32)
    assert first.dtype == torch.float32
    assert torch.equal(first, view(views, name, images, seed))
    assert torch.equal(images, before)
    low, high = torch.zeros(1), torch.ones(1)
    for channel, m, s in zip(first.unbind(1), views.mean, views.std, strict=True):
        assert (channel >= (low - m) / s - 1e-5).all()
        assert (channel <= (high - m) / s + 1e-5).all()


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("name", ["clean", "weak", "strong"])
def test_a_batch_may_be_empty_or_hold_one_image(count: int, name: str) -> None:
    for views in (GRAY, COLOR):
        channels = len(views.mean)
        found = view(views, name, noise(count, channels, 28, 28), seed=0)
        assert found.shape == (count, channels, 32, 32)


@settings(max_examples=10, deadline=None)
@given(order=st.permutations(range(6)), seed=st.integers(0, 2**31))
def test_views_take_a_batch_in_any_order(order: list[int], seed: int) -> None:
    images = noise(6, 3, 32, 32)[order]
    assert COLOR.weak(images, seeded(seed)).isfinite().all()
    assert COLOR.strong(images, seeded(seed)).isfinite().all()


def test_seeds_make_different_strong_views_of_an_image() -> None:
    image = noise(1, 3, 32, 32)
    results = {COLOR.strong(image, seeded(s)).numpy().tobytes() for s in range(20)}
    assert len(results) == 20


def test_weak_view_is_a_crop_perhaps_mirrored_and_all_places_occur() -> None:
    image = noise(1, 1, 10, 10)
    found = RAW.weak(image.expand(500, -1, -1, -1), seeded(0)).mul(255).round()
    flips: tuple[tuple[int, ...], ...] = ((), (-1,))
    places = itertools.product(range(3), range(3), flips)
    counts = dict.fromkeys(places, 0)
    for result in found:
        matches = [
            (top, left, flip)
            for top, left, flip in counts
            if torch.equal(
                result[0],
                image[0, 0, top : top + 8, left : left + 8].flip(flip).float(),
            )
        ]
        assert len(matches) == 1
        counts[matches[0]] += 1
    # 500 draws over 18 places: 28 expected in each, standard deviation 5.
    assert min(counts.values()) > 5


def test_weak_view_without_flip_never_mirrors() -> None:
    ramp = torch.arange(10, dtype=torch.uint8).expand(50, 1, 10, 10)
    views = Views(size=8, pre=10, mean=(0.0,), std=(1.0,), flip=False)
    assert (views.weak(ramp, seeded(0)).diff(dim=-1) > 0).all()
    mirrored = RAW.weak(ramp, seeded(0)).diff(dim=-1)[:, 0, 0, 0] < 0
    assert 10 < mirrored.sum() < 40


def test_flip_does_not_change_what_is_drawn() -> None:
    states = []
    for flip in (True, False):
        g = seeded(5)
        Views(8, 10, (0.5,), (0.5,), flip).strong(noise(4, 1, 9, 9), g)
        states.append(g.get_state())
    assert torch.equal(*states)


def test_strong_view_can_be_trained_on() -> None:
    inputs = GRAY.strong(noise(2, 1, 28, 28), seeded(0))
    weight = torch.ones(1, requires_grad=True)
    (inputs * weight).sum().backward()
    assert weight.grad is not None
    assert not inputs.is_inference()


def test_image_as_large_as_the_input_needs_no_crop() -> None:
    views = Views(size=12, pre=12, mean=(0.0,), std=(1.0,), flip=False)
    images = noise(3, 1, 12, 12)
    assert torch.equal(views.weak(images, seeded(0)), views.clean(images))


@pytest.mark.parametrize(
    ("size", "pre", "mean", "std"),
    [
        (32, 31, (0.5,), (0.5,)),
        (0, 4, (0.5,), (0.5,)),
        (8, 8, (0.5, 0.5), (0.5, 0.5)),
        (8, 8, (0.5,), (0.5, 0.5, 0.5)),
        (8, 8, (0.5,), (0.0,)),
    ],
)
def test_impossible_settings_are_refused(
    size: int, pre: int, mean: tuple[float, ...], std: tuple[float, ...]
) -> None:
    with pytest.raises(ConfigError):
        Views(size, pre, mean, std)


@pytest.mark.parametrize("name", ["clean", "weak", "strong"])
def test_images_that_are_no_bytes_or_have_other_channels_are_refused(name: str) -> None:
    with pytest.raises(DataError, match=r"torch\.float32"):
        view(GRAY, name, torch.zeros(2, 1, 8, 8), 0)
    with pytest.raises(DataError, match=r"\[B, 1, H, W\]"):
        view(GRAY, name, noise(2, 3, 8, 8), 0)


@pytest.mark.parametrize("name", ["weak", "strong"])
def test_views_of_images_resized_before_have_the_same_bits(name: str) -> None:
    images = noise(150, 3, 28, 30)
    before = COLOR.resized(images)
    assert before.shape == (150, 3, 40, 40)
    for part in (slice(0, 7), slice(120, 150)):
        plain = getattr(COLOR, name)(images[part], seeded(1))
        assert torch.equal(getattr(COLOR, name)(before[part], seeded(1)), plain)


def test_images_that_would_take_too_much_room_are_resized_view_by_view(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    images = noise(4, 3, 28, 28)
    monkeypatch.setattr("fedsemi.data.augment._ROOM", 4 * 3 * 40 * 40 - 1)
    assert COLOR.resized(images) is images


def test_no_images_are_resized_to_no_images() -> None:
    assert len(COLOR.resized(noise(0, 3, 28, 28))) == 0
