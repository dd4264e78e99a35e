"""EfficientNet-Lite0: the encoder whose ImageNet weights come as a package.

"EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks", Tan and Le,
ICML 2019, https://arxiv.org/abs/1905.11946; the Lite variant has ReLU6 in the place of
Swish and no squeeze and excitation. Images are padded as TensorFlow does, of which the
weights come: more on the right and below, if it cannot be even.
"""

from __future__ import annotations

from collections import OrderedDict

from torch import Tensor, nn
from torch.nn import functional as F

from fedsemi.models.classifier import Classifier, init_convolutions

_EPS, _MOMENTUM = 1e-3, 0.01
_STEM, _TOP = 32, 1280
_STAGES = (
    # blocks, kernel, stride of the first, expansion, channels
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)


class EfficientNetLite0(nn.Sequential):
    """A stem, seven stages and a top of 1,280 channels, averaged over positions."""

    signed_features = False
    pixel_mean = (127 / 255,) * 3
    """What the weights were trained with: (x - 127) / 128 of bytes."""
    pixel_std = (128 / 255,) * 3

    def __init__(self, in_channels: int = 3) -> None:
        blocks: OrderedDict[str, nn.Module] = OrderedDict()
        blocks["stem"] = _conv_bn(in_channels, _STEM, 3, stride=2)
        before = _STEM
        for number, (count, kernel, stride, expansion, width) in enumerate(_STAGES, 1):
            stage = nn.Sequential()
            for place in range(count):
                first = stride if place == 0 else 1
                stage.append(InvertedResidual(before, width, kernel, first, expansion))
                before = width
            blocks[f"stage{number}"] = stage
        blocks["top"] = nn.Sequential(
            *_conv_bn(before, _TOP, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()
        )
        super().__init__(blocks)


def efficientnet_lite0(num_classes: int, in_channels: int = 3) -> Classifier:
    """Build EfficientNet-Lite0; weights of ImageNet come by `model.encoder`."""
    encoder = EfficientNetLite0(in_channels)
    init_convolutions(encoder)
    return Classifier(encoder, nn.Linear(_TOP, num_classes))


class InvertedResidual(nn.Module):
    """Widen, look at each channel apart, and narrow again; a shortcut if it fits.

    Args:
        in_width: Channels that enter.
        width: Channels that leave.
        kernel: Side of the convolution of single channels.
        stride: Of the same.
        expansion: How many times wider it is in between.
    """

    def __init__(
        self, in_width: int, width: int, kernel: int, stride: int, expansion: int
    ) -> None:
        super().__init__()
        wide = in_width * expansion
        self.expand = _conv_bn(in_width, wide, 1) if expansion != 1 else nn.Identity()
        self.depthwise = _conv_bn(wide, wide, kernel, stride, groups=wide)
        self.project = nn.Sequential(
            nn.Conv2d(wide, width, 1, bias=False),
            nn.BatchNorm2d(width, _EPS, _MOMENTUM),
        )
        self.shortcut = stride == 1 and in_width == width

    def forward(self, maps: Tensor) -> Tensor:
        """Return the narrow maps, added to what came if they have its shape."""
        found: Tensor = self.project(self.depthwise(self.expand(maps)))
        return found + maps if self.shortcut else found


class SamePad(nn.Module):
    """Zeros around a picture, so that a stride of two halves it, rounded up."""

    def __init__(self, kernel: int, stride: int) -> None:
        super().__init__()
        self.kernel = kernel
        self.stride = stride

    def forward(self, maps: Tensor) -> Tensor:
        """Return the maps with their border."""
        (top, below), (left, right) = (self._border(side) for side in maps.shape[-2:])
        return F.pad(maps, (left, right, top, below))

    def _border(self, side: int) -> tuple[int, int]:
        covered = (-(-side // self.stride) - 1) * self.stride + self.kernel
        missing = max(covered - side, 0)
        return missing // 2, missing - missing // 2


def _conv_bn(
    in_width: int, width: int, kernel: int, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    padded: list[nn.Module] = [SamePad(kernel, stride)] if stride > 1 else []
    padding = 0 if padded else kernel // 2
    convolution = nn.Conv2d(
        in_width, width, kernel, stride, padding, groups=groups, bias=False
    )
    norm = nn.BatchNorm2d(width, _EPS, _MOMENTUM)
    return nn.Sequential(*padded, convolution, norm, nn.ReLU6(inplace=True))
