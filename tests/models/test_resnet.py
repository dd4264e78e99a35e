"""The residual networks have the published sizes, shapes and initial weights."""

import math

import pytest
import torch
from torch import nn

from fedsemi.models.classifier import Classifier, Output
from fedsemi.models.resnet import (
    BasicBlock,
    resnet8,
    resnet18_cifar,
    resnet18_imagenet,
)

ALL = [resnet8, resnet18_cifar, resnet18_imagenet]


def num_parameters(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def batch_norms(model: nn.Module) -> list[nn.BatchNorm2d]:
    return [m for m in model.modules() if isinstance(m, nn.BatchNorm2d)]


@pytest.mark.parametrize(
    ("build", "num_classes", "expected"),
    [
        (resnet18_cifar, 10, 11_173_962),
        (resnet18_cifar, 100, 11_220_132),
        (resnet18_imagenet, 7, 11_180_103),
    ],
)
def test_resnet18_has_the_published_number_of_parameters(build, num_classes, expected):
    assert num_parameters(build(num_classes)) == expected


def test_resnet8_parameter_count_worked_by_hand():
    # stem 3*16*9 + 2*16                                              =    464
    # stage 1 (16): 2 * (16*16*9 + 2*16)                              =  4 672
    # stage 2 (32): 16*32*9 + 32*32*9 + 16*32 + 3 * 2*32              = 14 528
    # stage 3 (64): 32*64*9 + 64*64*9 + 32*64 + 3 * 2*64              = 57 728
    # head 64*10 + 10                                                 =    650
    assert num_parameters(resnet8(10)) == 464 + 4_672 + 14_528 + 57_728 + 650


@pytest.mark.parametrize("build", [resnet18_cifar, resnet18_imagenet])
def test_resnet18_has_twenty_batch_norms_with_9600_running_floats(build):
    layers = batch_norms(build(10))

    floats = sum(m.running_mean.numel() + m.running_var.numel() for m in layers)

    assert len(layers) == 20
    assert floats == 9_600


@pytest.mark.parametrize("build", ALL)
@pytest.mark.parametrize("in_channels", [1, 3])
@pytest.mark.parametrize("training", [True, False])
def test_features_are_never_negative_and_shapes_are_right(build, in_channels, training):
    torch.manual_seed(0)
    model = build(5, in_channels=in_channels, width=8).train(training)

    output = model(torch.randn(3, in_channels, 32, 32))

    size = 32 if build is resnet8 else 64
    assert isinstance(output, Output)
    assert output.feature.shape == (3, size)
    assert output.logits.shape == (3, 5)
    assert (output.feature >= 0).all()
    assert output.feature.any()


@pytest.mark.parametrize("side", [8, 13, 28, 64])
def test_resnet8_takes_images_from_8_to_64_pixels(side):
    model = resnet8(4, in_channels=1)

    assert model(torch.randn(2, 1, side, side)).logits.shape == (2, 4)


@pytest.mark.parametrize(
    ("build", "side", "expected"),
    [
        (resnet18_cifar, 32, [32, 32, 16, 8, 4]),
        (resnet18_imagenet, 224, [56, 56, 28, 14, 7]),
        (resnet8, 32, [32, 32, 16, 8]),
    ],
)
def test_stem_and_stages_shrink_the_image_as_published(build, side, expected):
    encoder = build(2, width=2).eval().encoder

    maps = [encoder.stem(torch.randn(1, 3, side, side))]
    for stage in encoder.stages:
        maps.append(stage(maps[-1]))

    assert [m.shape[-1] for m in maps] == expected


@pytest.mark.parametrize("build", ALL)
def test_every_state_dict_key_belongs_to_encoder_or_head(build):
    keys = build(3, width=4).state_dict()

    assert {key.split(".")[0] for key in keys} == {"encoder", "head"}
    assert [key for key in keys if key.startswith("head.")] == [
        "head.weight",
        "head.bias",
    ]


@pytest.mark.parametrize("build", ALL)
def test_every_parameter_learns(build):
    model = build(3, width=4)

    model(torch.randn(4, 3, 32, 32)).logits.square().sum().backward()

    assert all(p.grad is not None and p.grad.any() for p in model.parameters())


@pytest.mark.parametrize("build", ALL)
def test_convolutions_start_kaiming_normal_and_batch_norms_as_identity(build):
    torch.manual_seed(0)
    model = build(10)

    for layer in model.modules():
        if isinstance(layer, nn.Conv2d):
            fan_out = layer.out_channels * math.prod(layer.kernel_size)
            std = math.sqrt(2 / fan_out)
            # The standard error of a sample deviation is std / sqrt(2 n).
            slack = 5 * std / math.sqrt(2 * layer.weight.numel())
            assert layer.bias is None
            assert abs(layer.weight.std().item() - std) < slack
    for norm in batch_norms(model):
        assert (norm.weight == 1).all()
        assert (norm.bias == 0).all()


@pytest.mark.parametrize(("in_width", "stride"), [(4, 1), (4, 2), (2, 1)])
def test_block_in_place_matches_reference_out_of_place(in_width, stride):
    torch.manual_seed(0)
    block = BasicBlock(in_width, 4, stride)
    conv1, bn1, _, conv2, bn2 = block.residual
    images = torch.randn(3, in_width, 8, 8, dtype=torch.double)
    block.double()

    def reference(maps):
        inner = torch.relu(bn1(conv1(maps)))
        return torch.relu(bn2(conv2(inner)) + block.shortcut(maps))

    results = []
    for function in (block, reference):
        # A leaf cannot be changed in place, so the input is a product, as in a network.
        leaf = images.clone().requires_grad_()
        out = function(leaf * 1)
        gradients = torch.autograd.grad(
            out.pow(2).sum(), [leaf, *block.parameters()], retain_graph=False
        )
        results.append((out, *gradients))

    for ours, expected in zip(*results, strict=True):
        torch.testing.assert_close(ours, expected)


def test_block_leaves_its_input_alone():
    block = BasicBlock(4, 4, stride=1)
    maps = torch.randn(2, 4, 6, 6)
    before = maps.clone()

    block(maps)

    assert torch.equal(maps, before)


def test_forward_is_the_head_on_the_encoder():
    model = Classifier(nn.Flatten(), nn.Linear(4, 2))
    images = torch.randn(3, 1, 2, 2)

    output = model(images)

    assert torch.equal(output.feature, images.flatten(1))
    assert torch.equal(output.logits, model.head(output.feature))
