"""The network of RSCFed has its published size."""

import pytest
import torch
from torch import nn

from fedsemi.errors import ConfigError
from fedsemi.models.simple_cnn import simple_cnn


def test_parameter_count_is_the_published_one():
    # conv 3*6*25+6 = 456, conv 6*16*25+16 = 2 416, fc 400*120+120 = 48 120,
    # fc 120*84+84 = 10 164, fc 84*84+84 = 7 140, fc 84*256+256 = 21 760,
    # head 256*10+10 = 2 570
    assert sum(p.numel() for p in simple_cnn(10).parameters()) == 92_626


def test_head_is_the_last_linear_layer_only():
    model = simple_cnn(10)

    assert isinstance(model.head, nn.Linear)
    assert (model.head.in_features, model.head.out_features) == (256, 10)
    assert {k.split(".")[0] for k in model.state_dict()} == {"encoder", "head"}


@pytest.mark.parametrize("in_channels", [1, 3])
@pytest.mark.parametrize("side", [16, 28, 32, 33])
def test_takes_gray_and_color_images_of_any_size_from_16(in_channels, side):
    model = simple_cnn(7, in_channels, side)

    output = model(torch.randn(2, in_channels, side, side))

    assert output.feature.shape == (2, 256)
    assert output.logits.shape == (2, 7)


def test_feature_has_signs_because_the_encoder_ends_linear():
    torch.manual_seed(0)

    feature = simple_cnn(10)(torch.randn(4, 3, 32, 32)).feature

    assert (feature < 0).any()
    assert (feature > 0).any()


def test_too_small_images_are_refused_with_a_remedy():
    with pytest.raises(ConfigError, match=r"at least 16 pixels, found 15.*resnet8"):
        simple_cnn(10, image_size=15)


def test_every_parameter_learns():
    torch.manual_seed(0)
    model = simple_cnn(10)

    model(torch.randn(8, 3, 32, 32)).logits.square().sum().backward()

    assert all(p.grad is not None and p.grad.any() for p in model.parameters())
