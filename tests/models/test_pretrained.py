"""Pretrained encoders: what is frozen never leaves, what is trained starts as told."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from fedsemi.errors import ConfigError
from fedsemi.models import ModelSpec
from fedsemi.models.copying import copied
from fedsemi.models.encoders import EncoderSpec
from fedsemi.models.folding import folded
from fedsemi.models.pretrained import blocks_of

BARE = ModelSpec("resnet8", 3, width=4, image_size=8)
KNOWN = BARE.build(5)


@pytest.fixture
def make_spec(tmp_path):
    file = tmp_path / "e.safetensors"
    save_file(KNOWN.encoder.state_dict(), file)

    def make(**settings) -> ModelSpec:
        encoder = EncoderSpec(str(file), adapter=6, **settings)
        return replace(BARE, encoder=encoder).located()

    return make


def images(count: int = 5) -> torch.Tensor:
    return torch.randn(count, 3, 8, 8, generator=torch.Generator().manual_seed(1))


def test_the_state_dict_of_a_frozen_encoder_has_adapter_and_head_alone(make_spec):
    spec = make_spec()
    parts = {key.rsplit(".", 2)[0] for key in spec.build(0).state_dict()}
    assert parts == {"encoder.adapter", "head"}
    # LayerNorm 2 * 16, Linear 16 * 6 + 6, head 6 * 3 + 3.
    assert spec.num_parameters == 32 + 102 + 21
    assert spec.num_features == 6
    assert spec.signed_features is False


def test_frozen_features_are_those_of_the_file(make_spec):
    encoder = make_spec().build(0).encoder
    with torch.no_grad():
        due = KNOWN.eval().encoder(images())
    torch.testing.assert_close(encoder.rows(images()), due, rtol=1e-4, atol=1e-5)


def test_rows_that_were_computed_before_give_the_same_as_images(make_spec):
    for blocks in (0, 1, 2):
        model = make_spec(trained_blocks=blocks).build(0).eval()
        rows = model.encoder.rows(images())
        assert rows.shape == (5, torch.tensor(model.encoder.shape).prod())
        torch.testing.assert_close(model(rows).logits, model(images()).logits)


@pytest.mark.parametrize("blocks", [1, 2, "all"])
def test_trained_blocks_start_as_pretrained_and_the_anchor_is_random(make_spec, blocks):
    spec = make_spec(trained_blocks=blocks)
    start, random = spec.start(0), spec.build(0).state_dict()
    tail = [key for key in start if key.startswith("encoder.tail.")]
    weights = [key for key in tail if start[key].ndim == 4]
    assert weights
    assert not any(torch.equal(start[key], random[key]) for key in weights)
    assert all(torch.equal(start[k], random[k]) for k in start.keys() - set(tail))
    model = spec.empty()
    model.load_state_dict(start)
    with torch.no_grad():
        due = KNOWN.eval().encoder(images())
        seen = model.eval().encoder
        found = seen.tail(images() if blocks == "all" else _maps(seen))
    torch.testing.assert_close(found, due, rtol=1e-4, atol=1e-5)


def _maps(encoder) -> torch.Tensor:
    return encoder.rows(images()).view(-1, *encoder.shape)


def test_a_frozen_encoder_gets_no_gradient_and_stays_in_test_mode(make_spec):
    model = make_spec().build(0).train()
    model(images()).logits.sum().backward()
    trunk = model.encoder.frozen.on(torch.device("cpu"))
    assert not trunk.training
    assert all(p.grad is None for p in trunk.parameters())
    assert all(p.grad is not None for p in model.parameters())


def test_all_copies_share_one_frozen_part(make_spec):
    spec = make_spec()
    model = spec.build(0)
    for twin in (copied(model), copy.deepcopy(model), folded(model), spec.empty()):
        assert twin.encoder.frozen is model.encoder.frozen


def test_the_whole_network_has_its_frozen_part_inside(make_spec):
    model = make_spec(trained_blocks=1).build(0).eval()
    whole = model.encoder.whole().eval()
    torch.testing.assert_close(whole(images()), model.encoder(images()))
    assert sum(p.numel() for p in whole.parameters()) > sum(
        p.numel() for p in model.encoder.parameters()
    )


def test_gray_pictures_are_shown_to_a_color_encoder_three_times(make_spec):
    spec = replace(make_spec(mean=(0.5,) * 3, std=(0.5,) * 3), in_channels=1)
    gray = images()[:, :1]
    found = spec.build(0).encoder.rows(gray)
    due = make_spec().build(0).encoder.rows(gray.repeat(1, 3, 1, 1))
    torch.testing.assert_close(found, due)


def test_more_blocks_than_there_are_and_networks_without_any_are_refused(make_spec):
    with pytest.raises(ConfigError, match=r"FS4193.*has 4 blocks"):
        make_spec(trained_blocks=4).build(0)
    assert blocks_of(nn.Bilinear(2, 2, 2)) == []


def test_a_recipe_survives_its_text_and_hides_where_the_file_lies(make_spec):
    spec = make_spec(mean=(0.5,), std=(0.5,))
    assert ModelSpec.from_dict(spec.as_dict()) == spec
    assert spec.for_others().as_dict()["encoder"]["weights"] == "e.safetensors"
    assert spec.encoder_sha256 == spec.for_others().encoder_sha256 != ""
    assert "encoder" not in BARE.as_dict()
    assert BARE.encoder_sha256 == ""
