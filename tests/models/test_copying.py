"""A copied network is a network of its own that says the same."""

import pytest
import torch
from torch import nn

from fedsemi.models import MODELS, ModelSpec
from fedsemi.models.copying import copied


def build(name, seed=0):
    width = 8 if name.startswith("resnet") else None
    return ModelSpec(name, 5, width=width).build(seed)


@pytest.mark.parametrize("name", MODELS)
def test_a_copy_has_the_same_tensors_in_the_same_layout(name):
    model = build(name).to(memory_format=torch.channels_last)
    twin = copied(model)
    assert list(twin.state_dict()) == list(model.state_dict())
    for key, value in model.state_dict().items():
        assert torch.equal(twin.state_dict()[key], value)
        assert twin.state_dict()[key].stride() == value.stride()


def test_a_copy_shares_no_memory_and_no_mode_with_the_original():
    model = build("resnet8").train()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    twin = copied(model).eval().requires_grad_(False)
    twin.add_module("more", nn.Linear(2, 2))
    for value in twin.state_dict().values():
        value.zero_()
    assert model.training
    assert all(parameter.requires_grad for parameter in model.parameters())
    assert all(torch.equal(model.state_dict()[key], before[key]) for key in before)


def test_a_copy_learns_without_the_original():
    model = build("resnet8")
    twin = copied(model)
    twin(torch.randn(4, 3, 16, 16)).logits.sum().backward()
    assert all(parameter.grad is not None for parameter in twin.parameters())
    assert all(parameter.grad is None for parameter in model.parameters())


def test_hooks_of_the_copy_are_its_own():
    model = build("resnet8")
    twin = copied(model)
    seen = []
    twin.register_forward_hook(lambda *_: seen.append(1))
    model(torch.randn(2, 3, 16, 16))
    assert not seen


def test_a_tensor_shared_by_two_layers_is_shared_in_the_copy():
    one, two = nn.Linear(3, 3), nn.Linear(3, 3)
    two.weight = one.weight
    twin = copied(nn.Sequential(one, two))
    assert twin[0].weight is twin[1].weight
    assert twin[0].weight is not one.weight


def test_an_empty_network_is_made_anew_each_time():
    spec = ModelSpec("resnet8", 5, width=8)
    one, two = spec.empty(), spec.empty()
    one.head.weight.data.fill_(1)
    two.head.weight.data.fill_(2)
    assert (one.head.weight == 1).all()
    assert all(value.device.type == "cpu" for value in one.state_dict().values())
