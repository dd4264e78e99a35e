"""The one shape of network that every method works with: an encoder and a head.

A state dict of a `Classifier` has keys that start with `encoder.` or `head.`, so the
two parts can be averaged over different clients, or one of them be left at home.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn

from fedsemi.models.precision import Precision, computing


class Output(NamedTuple):
    """What a `Classifier` says about a batch of images."""

    feature: Tensor
    """The encoder's view of each image, `[B, d]`."""

    logits: Tensor
    """Unnormalized class scores, `[B, C]`."""


class Classifier(nn.Module):
    """An encoder that makes features and a head that turns them into logits.

    Args:
        encoder: Maps images `[B, channels, H, W]` to features `[B, d]`.
        head: Maps features `[B, d]` to logits `[B, C]`.
    """

    encoder: nn.Module
    head: nn.Linear
    precision: Precision = "float32"
    """In which the encoder computes; features, head and losses are float32."""

    def __init__(self, encoder: nn.Module, head: nn.Linear) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = head

    @property
    def num_features(self) -> int:
        """d, the length of a feature."""
        return self.head.in_features

    def features(self, images: Tensor) -> Tensor:
        """Return the encoder's view of each image, `[B, d]`."""
        with computing(self.precision, images.device.type):
            feature: Tensor = self.encoder(images)
        return feature.float()

    def forward(self, images: Tensor) -> Output:
        """Return the feature and the logits of each image."""
        feature = self.features(images)
        return Output(feature, self.head(feature))


def init_convolutions(network: nn.Module) -> None:
    """Draw all convolution weights from Kaiming's normal (fan-out, ReLU gain).

    Other layers keep PyTorch's own start: batch norm at scale one and shift zero,
    linear layers uniform.
    """
    for layer in network.modules():
        # On the meta device there is nothing to draw, and `normal_` there costs a
        # second once per process, as it imports torch's symbolic-shape machinery.
        if isinstance(layer, nn.Conv2d) and not layer.weight.is_meta:
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
