"""Residual networks: ResNet-18 with two stems, and a small one for CPU work.

"Deep Residual Learning for Image Recognition", He, Zhang, Ren, Sun, CVPR 2016,
https://arxiv.org/abs/1512.03385 (basic blocks; projection shortcuts where the shape
changes). The feature is a mean of ReLU outputs, hence never negative: the cosine of
two features lies in [0, 1], on which the diversity of SemiAnAgg relies.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from fedsemi.models.classifier import Classifier, init_convolutions


def resnet18_cifar(
    num_classes: int, in_channels: int = 3, width: int = 64
) -> Classifier:
    """Build ResNet-18 for small images: 3x3 stem of stride one, no pooling."""
    stem = nn.Sequential(*_conv_bn_relu(in_channels, width, kernel=3, stride=1))
    return _resnet18(stem, num_classes, width)


def resnet18_imagenet(
    num_classes: int, in_channels: int = 3, width: int = 64
) -> Classifier:
    """Build ResNet-18 for large images: 7x7 stem of stride two, then max-pooling."""
    stem = nn.Sequential(
        *_conv_bn_relu(in_channels, width, kernel=7, stride=2),
        nn.MaxPool2d(3, stride=2, padding=1),
    )
    return _resnet18(stem, num_classes, width)


def resnet8(num_classes: int, in_channels: int = 3, width: int = 16) -> Classifier:
    """Build the small network for CPU work: three stages of one basic block each."""
    stem = nn.Sequential(*_conv_bn_relu(in_channels, width, kernel=3, stride=1))
    widths = [width, 2 * width, 4 * width]
    return _classifier(ResNetEncoder(stem, width, widths, blocks=1), num_classes)


class ResNetEncoder(nn.Module):
    """A stem, stages of basic blocks, and the mean over positions.

    Every stage but the first halves the height and width.

    Args:
        stem: Maps images to `stem_width` channels.
        stem_width: Channels that leave the stem.
        widths: Channels of each stage.
        blocks: Basic blocks in each stage.
    """

    signed_features = False

    def __init__(
        self, stem: nn.Module, stem_width: int, widths: Sequence[int], blocks: int
    ) -> None:
        super().__init__()
        self.stem = stem
        self.stages = nn.Sequential()
        before = stem_width
        for index, width in enumerate(widths):
            stride = 1 if index == 0 else 2
            first = BasicBlock(before, width, stride)
            rest = [BasicBlock(width, width, stride=1) for _ in range(blocks - 1)]
            self.stages.append(nn.Sequential(first, *rest))
            before = width
        self.feature_size = before

    def forward(self, images: Tensor) -> Tensor:
        """Return the feature of each image, `[B, d]`, at least zero everywhere."""
        maps: Tensor = self.stages(self.stem(images))  # [B, d, h, w]
        return maps.mean(dim=(-2, -1))

    def blocks(self) -> list[nn.Module]:
        """Return stem and stages, the last one with the mean over positions."""
        *first, last = self.stages
        mean = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
        return [self.stem, *first, nn.Sequential(last, mean)]


class BasicBlock(nn.Module):
    """Two 3x3 convolutions, each with batch norm, around a shortcut.

    Args:
        in_width: Channels that enter.
        width: Channels that leave.
        stride: Of the first convolution and of the shortcut.
    """

    def __init__(self, in_width: int, width: int, stride: int) -> None:
        super().__init__()
        self.residual = nn.Sequential(
            *_conv_bn_relu(in_width, width, kernel=3, stride=stride),
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or in_width != width:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_width, width, 1, stride, bias=False),
                nn.BatchNorm2d(width),
            )

    def forward(self, maps: Tensor) -> Tensor:
        """Return ReLU(residual(maps) + shortcut(maps))."""
        # In place is safe: batch norm keeps its input for the backward pass, not the
        # output that is overwritten here, and `maps` itself is not touched.
        total: Tensor = self.residual(maps)
        total += self.shortcut(maps)
        return total.relu_()


def _conv_bn_relu(
    in_width: int, width: int, kernel: int, stride: int
) -> tuple[nn.Module, nn.Module, nn.Module]:
    return (
        # No bias: the shift of the batch norm that follows takes its place.
        nn.Conv2d(in_width, width, kernel, stride, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(inplace=True),
    )


def _resnet18(stem: nn.Module, num_classes: int, width: int) -> Classifier:
    widths = [width, 2 * width, 4 * width, 8 * width]
    return _classifier(ResNetEncoder(stem, width, widths, blocks=2), num_classes)


def _classifier(encoder: ResNetEncoder, num_classes: int) -> Classifier:
    init_convolutions(encoder)
    return Classifier(encoder, nn.Linear(encoder.feature_size, num_classes))
