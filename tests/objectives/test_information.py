"""Information maximization: sure of each sample, spread over the classes."""

from __future__ import annotations

import math

import pytest
import torch

from fedsemi.objectives.information import entropy


def test_entropy_of_even_and_certain_predictions() -> None:
    probs = torch.tensor([[0.25, 0.25, 0.25, 0.25], [1.0, 0.0, 0.0, 0.0]])
    assert entropy(probs).tolist() == pytest.approx([math.log(4), 0.0])


def test_sure_and_spread_predictions_are_best() -> None:
    def loss(probs: torch.Tensor) -> float:
        return float(entropy(probs).mean() - entropy(probs.mean(0)))

    best = torch.eye(2)
    same = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    unsure = torch.full((2, 2), 0.5)
    assert loss(best) == pytest.approx(-math.log(2))
    assert loss(same) == loss(unsure) == pytest.approx(0)
