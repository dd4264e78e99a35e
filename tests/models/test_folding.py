"""Folding batch norm changes the speed of a model and not what it says."""

import pytest
import torch

from fedsemi.models import MODELS, ModelSpec
from fedsemi.models.folding import folded, folded_once


def trained(name):
    """Return a model whose batch norms are no longer the identity."""
    width = 8 if name.startswith("resnet") else None
    model = ModelSpec(name, 5, width=width).build(0)
    generator = torch.Generator().manual_seed(1)
    for key, value in model.state_dict().items():
        if key.endswith(("running_var", ".1.weight")):
            value.copy_(torch.rand(value.shape, generator=generator) + 0.5)
        elif key.endswith(("running_mean", ".1.bias")):
            value.copy_(torch.randn(value.shape, generator=generator) / 4)
    return model.eval().requires_grad_(False)


@pytest.mark.parametrize("name", MODELS)
def test_a_folded_model_says_the_same_up_to_rounding(name):
    model = trained(name)
    images = torch.randn(6, 3, 32, 32, generator=torch.Generator().manual_seed(2))
    for ours, plain in zip(folded(model)(images), model(images), strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-5)


def test_folding_leaves_no_batch_norm_and_the_model_as_it_was():
    model = trained("resnet8")
    before = {key: value.clone() for key, value in model.state_dict().items()}
    kinds = {type(module).__name__ for module in folded(model).modules()}
    assert "BatchNorm2d" not in kinds
    for key, value in model.state_dict().items():
        assert torch.equal(value, before[key])


def test_a_teacher_is_folded_once():
    teacher = trained("resnet8")
    assert folded_once(teacher) is folded_once(teacher)
