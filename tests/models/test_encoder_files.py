"""Encoders by other names: TorchScript and ONNX files, and what timm makes."""

from __future__ import annotations

import io
import sys
import types
import warnings

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError
from fedsemi.models import MODELS, ModelSpec
from fedsemi.models.encoders import EncoderSpec, sha256_of


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    ).eval()


@pytest.fixture
def torchscript(tmp_path):
    path = tmp_path / "e.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.trace(network(), torch.zeros(2, 3, 8, 8)).save(path)
    return path


@pytest.fixture
def onnx_file(tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    content = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            network(),
            (torch.zeros(2, 3, 8, 8),),
            content,
            dynamo=False,
            input_names=["images"],
            dynamic_axes={"images": {0: "count"}},
        )
    path = tmp_path / "e.onnx"
    path.write_bytes(content.getvalue())
    return path


@pytest.mark.parametrize("kind", ["torchscript", "onnx"])
def test_a_file_is_a_frozen_encoder_with_a_checksum(kind, request):
    path = request.getfixturevalue(
        "torchscript" if kind == "torchscript" else "onnx_file"
    )
    spec = ModelSpec(f"{kind}:{path}", 3, image_size=8, encoder=EncoderSpec(adapter=5))
    spec = spec.located()
    assert spec.encoder_sha256 == sha256_of(path)
    identity = MODELS.identity(spec.name)
    assert identity is not None
    assert identity.sha256 == sha256_of(path)
    images = torch.randn(4, 3, 8, 8)
    model = spec.build(0)
    assert {key.split(".")[1] for key in model.state_dict()} == {
        "adapter",
        "weight",
        "bias",
    }
    torch.testing.assert_close(
        model.encoder.rows(images), network()(images), rtol=1e-4, atol=1e-5
    )


def settings(name: str, **encoder) -> dict:
    return {
        "data": {"name": "synthetic"},
        "model": {"name": name, "encoder": encoder},
        "stages": [{"method": "supervised", "rounds": 1}],
    }


def test_a_file_cannot_be_trained_nor_be_given_other_weights(torchscript):
    name = f"torchscript:{torchscript}"
    make_experiment(settings(name))
    with pytest.raises(ConfigError, match="FS4193"):
        make_experiment(settings(name, trained_blocks=1))
    with pytest.raises(ConfigError, match="FS4196"):
        make_experiment(settings(name, weights="a.safetensors"))
    bare = settings(name)
    del bare["model"]["encoder"]
    with pytest.raises(ConfigError, match=r"FS4196.*\[model\.encoder\]"):
        make_experiment(bare)


def test_an_encoder_of_ours_needs_its_file():
    with pytest.raises(ConfigError, match=r"FS4196.*model\.encoder\.weights"):
        make_experiment(settings("resnet8"))


def test_without_onnxruntime_the_error_says_what_to_install(onnx_file, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    spec = ModelSpec(f"onnx:{onnx_file}", 3, image_size=8, encoder=EncoderSpec())
    with pytest.raises(ConfigError, match=r"fedsemi\[export\]"):
        spec.build(0)


def test_a_network_of_timm_is_made_without_classifier_and_filled_from_a_file(
    tmp_path, monkeypatch
):
    asked = {}

    def create_model(name, **options):
        asked.update(options, name=name)
        return network()

    made_up = types.ModuleType("timm")
    made_up.create_model = create_model
    monkeypatch.setitem(sys.modules, "timm", made_up)
    file = tmp_path / "t.safetensors"
    save_file(network().state_dict(), file)
    spec = ModelSpec("timm:tiny", 3, image_size=8, encoder=EncoderSpec(str(file)))
    rows = spec.build(0).encoder.rows(torch.ones(1, 3, 8, 8))
    torch.testing.assert_close(rows, network()(torch.ones(1, 3, 8, 8)).detach())
    assert asked == {
        "name": "tiny",
        "pretrained": False,
        "num_classes": 0,
        "in_chans": 3,
    }


def test_without_timm_the_error_is_one_line_that_says_why(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    spec = ModelSpec("timm:tiny", 3, encoder=EncoderSpec("x.safetensors"))
    with pytest.raises(ConfigError, match="timm cannot be imported") as caught:
        spec.build(0)
    assert "\n" not in str(caught.value)
