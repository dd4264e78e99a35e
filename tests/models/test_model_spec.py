"""A recipe builds the same network everywhere, and disturbs nothing."""

import pickle

import pytest
import torch

from fedsemi.errors import ConfigError
from fedsemi.models import MODELS, ModelSpec

SPECS = [
    ModelSpec("resnet18-cifar", num_classes=3, width=4),
    ModelSpec("resnet18-imagenet", num_classes=3, width=4),
    ModelSpec("resnet8", num_classes=3),
    ModelSpec("resnet8", num_classes=2, in_channels=1, width=8),
    ModelSpec("simple-cnn", num_classes=3),
    ModelSpec("efficientnet-lite0", num_classes=3),
    ModelSpec("simple-cnn", num_classes=3, in_channels=1, image_size=28),
]
each_spec = pytest.mark.parametrize("spec", SPECS, ids=str)


def images_for(spec: ModelSpec) -> torch.Tensor:
    shape = (4, spec.in_channels, spec.image_size, spec.image_size)
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def test_the_specs_of_this_file_cover_every_model():
    assert {spec.name for spec in SPECS} == set(MODELS)


@each_spec
def test_same_seed_gives_same_weights(spec):
    first, second = spec.build(7).state_dict(), spec.build(7).state_dict()

    assert first.keys() == second.keys()
    assert all(torch.equal(first[key], second[key]) for key in first)


@each_spec
def test_another_seed_gives_other_weights(spec):
    first, second = spec.build(7).state_dict(), spec.build(8).state_dict()

    assert not torch.equal(first["head.weight"], second["head.weight"])


@each_spec
def test_weights_do_not_depend_on_the_global_generator(spec):
    torch.manual_seed(1)
    first = spec.build(7).state_dict()
    torch.manual_seed(2)
    second = spec.build(7).state_dict()

    assert all(torch.equal(first[key], second[key]) for key in first)


@each_spec
def test_global_generator_is_undisturbed(spec):
    torch.manual_seed(3)
    before = torch.get_rng_state()

    spec.build(7)
    spec.empty()

    assert torch.equal(torch.get_rng_state(), before)


@each_spec
def test_empty_network_filled_by_a_state_dict_equals_the_original(spec):
    original = spec.build(7)
    images = images_for(spec)
    original(images)  # moves the running statistics away from their start

    copy = spec.empty()
    copy.load_state_dict(original.state_dict())

    for mode in (True, False):
        ours, expected = copy.train(mode)(images), original.train(mode)(images)
        assert torch.equal(ours.feature, expected.feature)
        assert torch.equal(ours.logits, expected.logits)


@each_spec
def test_a_state_dict_carries_all_state_of_a_network(spec):
    # Otherwise `empty` would leave something undefined after `load_state_dict`.
    model = spec.build(7)
    tensors = dict(model.named_parameters()) | dict(model.named_buffers())

    assert model.state_dict().keys() == tensors.keys()


@each_spec
def test_empty_network_is_on_the_cpu_and_trainable(spec):
    model = spec.empty()

    assert all(t.device.type == "cpu" for t in model.state_dict().values())
    assert all(p.requires_grad for p in model.parameters())
    assert model.training


@each_spec
def test_spec_survives_pickling(spec):
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_width_defaults_to_the_published_one():
    default = ModelSpec("resnet18-cifar", num_classes=10).empty()
    explicit = ModelSpec("resnet18-cifar", num_classes=10, width=64).empty()

    assert default.head.in_features == explicit.head.in_features == 512


def test_unknown_model_names_the_nearest():
    with pytest.raises(ConfigError, match=r"'resnet-8' \(did you mean 'resnet8'\?\)"):
        ModelSpec("resnet-8", num_classes=10)


def test_unknown_model_like_none_lists_all():
    with pytest.raises(ConfigError, match="known are efficientnet-lite0, resnet18"):
        ModelSpec("zzz", num_classes=10)


@pytest.mark.parametrize("field", ["num_classes", "in_channels", "width", "image_size"])
def test_impossible_number_is_refused_by_name(field):
    settings = {"num_classes": 10, field: 0}

    with pytest.raises(ConfigError, match=f"{field} must be at least 1, found 0"):
        ModelSpec("resnet8", **settings)


def test_width_of_a_network_without_one_is_refused():
    with pytest.raises(ConfigError, match="leave it out"):
        ModelSpec("simple-cnn", num_classes=10, width=32)
