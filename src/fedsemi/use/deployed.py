"""The model of a run as a network that takes bytes and gives probabilities."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from fedsemi.messages import Weights
from fedsemi.models import Classifier
from fedsemi.models.classifier import Output
from fedsemi.models.pretrained import PretrainedEncoder
from fedsemi.runs.folder import MODEL
from fedsemi.runs.model_card import ModelCard, read_card
from fedsemi.storage import read_weights

CARD = "fedsemi_card"
"""Under this name the model card travels in an exported model."""


class Deployed(nn.Module):
    """Bytes in, probabilities out: the normalization is part of the network."""

    scale: Tensor
    shift: Tensor

    def __init__(self, classifier: Classifier, card: ModelCard) -> None:
        super().__init__()
        self.classifier = classifier
        mean = torch.tensor(card.views.mean).view(1, -1, 1, 1)
        std = torch.tensor(card.views.std).view(1, -1, 1, 1)
        self.register_buffer("scale", 1 / (255 * std))
        self.register_buffer("shift", mean / std)

    def forward(self, images: Tensor) -> Tensor:
        """Map uint8 images `[N, channels, size, size]` to probabilities `[N, C]`."""
        return self.output(images).logits.softmax(1)

    def output(self, images: Tensor) -> Output:
        """Return features and logits of the same images."""
        output: Output = self.classifier(images.float() * self.scale - self.shift)
        return output


def load_model(folder: Path) -> tuple[Deployed, ModelCard]:
    """Load the model of a run, with its card."""
    card = read_card(folder)
    return deployed(card, read_weights(folder / MODEL)), card


def deployed(card: ModelCard, weights: Weights) -> Deployed:
    """Put weights into the network that a card describes."""
    classifier = card.spec.empty()
    # Methods may keep parts of their own beside the classifier; they stay behind.
    names = classifier.state_dict().keys()
    classifier.load_state_dict({name: weights[name] for name in names})
    if isinstance(classifier.encoder, PretrainedEncoder):
        classifier.encoder = classifier.encoder.whole()
    return Deployed(classifier, card).eval()
