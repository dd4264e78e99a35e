import pytest
import torch

from fedsemi.data.augment import Views
from fedsemi.data.ssl_views import _blurred, _grey, _turn_hue, two_views

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
    grey = torch.full((4, 3, 16, 16), 100, dtype=torch.uint8)
    for view in two_views(grey, VIEWS, torch.Generator().manual_seed(0)):
        assert torch.allclose(view, view[:, :, :1, :1].expand_as(view), atol=1e-4)


def test_blur_keeps_the_mean_and_lowers_the_contrast():
    pixels = _images().float() / 255
    blurred = _blurred(pixels, torch.ones(len(pixels)))
    assert torch.allclose(blurred.mean(), pixels.mean(), atol=0.02)
    assert blurred.std() < 0.5 * pixels.std()


def test_turning_the_hue_keeps_grey_grey_and_a_full_turn_changes_nothing():
    pixels = 0.4 + 0.1 * torch.rand(2, 3, 4, 4)
    grey = _grey(pixels).expand(-1, 3, -1, -1)
    angle = torch.tensor([0.3, -0.2])
    assert torch.allclose(_turn_hue(grey, angle), grey, atol=2e-3)
    full = torch.full((2,), 2 * torch.pi)
    assert torch.allclose(_turn_hue(pixels, full), pixels, atol=1e-4)


def test_a_smaller_image_than_the_blur_is_wide_works():
    views = Views(4, 5, (0.5,) * 3, (0.5,) * 3)
    assert two_views(_images(2, 3, 4), views, torch.Generator())[0].shape[-1] == 4
