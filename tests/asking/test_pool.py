"""What a model says of pictures, whether it is a run's or an exported one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fedsemi.asking.asker import Asker
from fedsemi.asking.pool import BATCH, joined, said


def images(count: int, size: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    shape = (count, 3, size, size)
    return torch.randint(256, shape, dtype=torch.uint8, generator=generator)


def test_a_run_shows_probabilities_and_features(asker: Asker) -> None:
    pictures = images(BATCH + 2, asker.card.views.size)
    probs, features = said(asker.model, pictures)
    assert probs.shape == (BATCH + 2, len(asker.card.class_names))
    assert probs.sum(axis=1) == pytest.approx(1.0)
    assert len(features) == BATCH + 2 and features.std() > 0
    with torch.inference_mode():
        assert probs == pytest.approx(asker.model(pictures).numpy(), abs=1e-6)


def test_an_exported_model_shows_no_features(asker: Asker) -> None:
    pictures = images(3, asker.card.views.size)
    probs, features = said(lambda batch: asker.model(batch), pictures)
    assert probs == pytest.approx(said(asker.model, pictures)[0])
    assert features.shape == (3, 0)


def test_batches_are_joined_in_their_order() -> None:
    parts = [(np.full((2, 2), n), np.full((2, 1), n)) for n in (1.0, 2.0)]
    probs, features = joined(parts)
    assert probs[:, 0].tolist() == features[:, 0].tolist() == [1, 1, 2, 2]
