"""The model of a run, as it is used: bytes in, probabilities and features out."""

from __future__ import annotations

from pathlib import Path

import torch

from fedsemi.runs.model_card import read_card
from fedsemi.storage import read_weights
from fedsemi.use.deployed import deployed, load_model


def pictures(count: int, size: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    shape = (count, 3, size, size)
    return torch.randint(256, shape, dtype=torch.uint8, generator=generator)


def test_probabilities_are_those_of_the_logits_beside_the_features(
    real_run: Path,
) -> None:
    model, card = load_model(real_run)
    images = pictures(5, card.views.size)
    with torch.inference_mode():
        output, probs = model.output(images), model(images)
        again = model.classifier.head(output.feature)
    assert torch.equal(output.logits.softmax(1), probs)
    assert output.feature.shape == (5, model.classifier.num_features)
    assert torch.equal(again, output.logits)


def test_parts_that_a_method_keeps_beside_the_classifier_stay_behind(
    real_run: Path,
) -> None:
    weights = dict(read_weights(real_run / "model.safetensors"))
    weights["teacher.head.weight"] = torch.zeros(3)
    model = deployed(read_card(real_run), weights)
    assert not model.training
    assert "teacher.head.weight" not in model.classifier.state_dict()
