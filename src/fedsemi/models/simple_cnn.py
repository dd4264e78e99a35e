"""The small convolutional network that RSCFed uses for SVHN and CIFAR-100.

"RSCFed: Random Sampling Consensus Federated Semi-supervised Learning", Liang, Lin, Fu,
Zhu, Li, CVPR 2022, https://arxiv.org/abs/2203.13993.

Unlike that of the residual networks, its feature has signs: the last layer of the
encoder is linear, so the cosine of two features may be negative.
"""

from __future__ import annotations

from collections import OrderedDict

from torch import nn

from fedsemi.errors import ConfigError
from fedsemi.models.classifier import Classifier, init_convolutions

SMALLEST_IMAGE = 16
"""Below this height, nothing is left after the second pooling."""

_FEATURE_SIZE = 256


def simple_cnn(
    num_classes: int, in_channels: int = 3, image_size: int = 32
) -> Classifier:
    """Build two convolutions with pooling, four linear layers, and a linear head.

    Args:
        num_classes: Classes to tell apart.
        in_channels: One for gray images, three for color.
        image_size: Height and width of the images, which fix the first linear layer.

    Raises:
        ConfigError: The images are too small for two convolutions without padding.
    """
    if image_size < SMALLEST_IMAGE:
        raise ConfigError(
            f"simple-cnn needs images of at least {SMALLEST_IMAGE} pixels, found "
            f"{image_size}; choose resnet8, which works from 8 pixels on"
        )
    encoder = _encoder(in_channels, image_size)
    init_convolutions(encoder)
    return Classifier(encoder, nn.Linear(_FEATURE_SIZE, num_classes))


def _encoder(in_channels: int, image_size: int) -> nn.Sequential:
    side = _after_conv_and_pool(_after_conv_and_pool(image_size))
    return nn.Sequential(
        OrderedDict[str, nn.Module](
            conv1=nn.Conv2d(in_channels, 6, 5),
            relu1=nn.ReLU(inplace=True),
            pool1=nn.MaxPool2d(2),
            conv2=nn.Conv2d(6, 16, 5),
            relu2=nn.ReLU(inplace=True),
            pool2=nn.MaxPool2d(2),
            flatten=nn.Flatten(),
            fc1=nn.Linear(16 * side * side, 120),
            relu3=nn.ReLU(inplace=True),
            fc2=nn.Linear(120, 84),
            relu4=nn.ReLU(inplace=True),
            fc3=nn.Linear(84, 84),
            relu5=nn.ReLU(inplace=True),
            fc4=nn.Linear(84, _FEATURE_SIZE),
        )
    )


def _after_conv_and_pool(side: int) -> int:
    return (side - 4) // 2
