import pytest
import torch

from fedsemi.data.augment import Views
from fedsemi.data.ssl_views import (
    BARLOW_TWINS,
    ORCHESTRA,
    _blurred,
    _crop,
    _gray,
    _turn_hue,
    first_view,
    two_views,
)

VIEWS = Views(16, 20, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))


def _images(count=6, channels=3, side=16):
    draw = torch.Generator().manual_seed(3)
    return torch.randint(256, (count, channels, side, side), generator=draw).byte()


def test_views_depend_on_the_generator_alone():
    first = two_views(_images(), VIEWS, torch.Generator().manual_seed(1))
    again = two_views(_images(), VIEWS, torch.Generator().manual_seed(1))
    other = two_views(_images(), VIEWS, torch.Generator().manual_seed(2))
    assert torch.equal(first[0], again[0]) and torch.equal(first[1], again[1])
    assert not torch.equal(first[0], other[0])
    assert not torch.equal(first[0], first[1])


@pytest.mark.parametrize("channels", [1, 3])
def test_views_have_the_input_size_and_range(channels):
    views = Views(12, 15, (0.5,) * channels, (0.5,) * channels)
    for view in two_views(_images(5, channels), views, torch.Generator()):
        assert view.shape == (5, channels, 12, 12)
        assert view.min() >= -1.001 and view.max() <= 1.001


def test_an_even_image_stays_even():
    gray = torch.full((4, 3, 16, 16), 100, dtype=torch.uint8)
    for view in two_views(gray, VIEWS, torch.Generator().manual_seed(0)):
        assert torch.allclose(view, view[:, :, :1, :1].expand_as(view), atol=1e-4)


def test_blur_keeps_the_mean_and_lowers_the_contrast():
    pixels = _images().float() / 255
    blurred = _blurred(pixels, 6, torch.ones(len(pixels)))
    assert torch.allclose(blurred.mean(), pixels.mean(), atol=0.02)
    assert blurred.std() < 0.5 * pixels.std()


def test_turning_the_hue_keeps_gray_gray_and_a_full_turn_changes_nothing():
    pixels = 0.4 + 0.1 * torch.rand(2, 3, 4, 4)
    gray = _gray(pixels).expand(-1, 3, -1, -1)
    angle = torch.tensor([0.3, -0.2])
    assert torch.allclose(_turn_hue(gray, angle), gray, atol=2e-3)
    full = torch.full((2,), 2 * torch.pi)
    assert torch.allclose(_turn_hue(pixels, full), pixels, atol=1e-4)


def test_a_smaller_image_than_the_blur_is_wide_works():
    views = Views(4, 5, (0.5,) * 3, (0.5,) * 3)
    assert two_views(_images(2, 3, 4), views, torch.Generator())[0].shape[-1] == 4


def test_the_first_view_can_be_drawn_alone():
    for recipe in (BARLOW_TWINS, ORCHESTRA):
        draws = [torch.Generator().manual_seed(1) for _ in range(2)]
        alone = first_view(_images(), VIEWS, draws[0], recipe)
        assert torch.equal(alone, two_views(_images(), VIEWS, draws[1], recipe)[0])


@pytest.mark.parametrize(("recipe", "least"), [(BARLOW_TWINS, 0.08), (ORCHESTRA, 0.5)])
def test_the_smallest_crop_keeps_the_published_share(recipe, least):
    # A square cut in the middle of a ramp keeps the share √area of its range.
    ramp = torch.linspace(0, 1, 64).expand(1, 1, 64, 64)
    views = Views(64, 64, (0.5,), (0.5,))
    draw = torch.tensor([[0.0, 0.5, 0.5, 0.5, 0.9]])
    kept = _crop(ramp, views, recipe.crop_from, draw)
    assert float(kept.max() - kept.min()) == pytest.approx(least**0.5, abs=0.02)


def test_blur_of_orchestra_takes_in_the_nearest_pixels_alone():
    pixels = torch.zeros(1, 1, 9, 9)
    pixels[0, 0, 4, 4] = 1
    wide = torch.ones(1)  # standard deviation 2
    # weights 1, e^(-1/8) = .8825: their share in the middle is 1 / 2.765 = .36167
    soft = _blurred(pixels, ORCHESTRA.blur_radius, wide)[0, 0]
    assert soft[4, 4] == pytest.approx(0.36167**2, abs=1e-4)
    assert int((soft > 0).sum()) == 9
