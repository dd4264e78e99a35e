"""Files of pretrained weights: where they are looked for, and which are refused."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import save_file

from fedsemi.errors import ConfigError, StorageError
from fedsemi.models import ModelSpec
from fedsemi.models.encoders import (
    EncoderSpec,
    encoder_file,
    fill,
    read_encoder,
    sha256_of,
    with_sha256,
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FEDSEMI_ENCODERS", str(tmp_path / "encoders"))
    (tmp_path / "encoders").mkdir()
    return tmp_path / "encoders"


def small():
    return ModelSpec("resnet8", 3, width=4).build(5).encoder


def test_a_file_is_found_by_its_path_or_by_its_name_in_the_folder(folder, tmp_path):
    save_file(small().state_dict(), folder / "a.safetensors")
    elsewhere = tmp_path / "b.safetensors"
    save_file(small().state_dict(), elsewhere)
    assert encoder_file("a.safetensors") == folder / "a.safetensors"
    assert encoder_file(str(elsewhere)) == elsewhere
    # A path of another machine: its name counts.
    assert encoder_file("/no/such/a.safetensors") == folder / "a.safetensors"


def test_a_file_that_is_nowhere_is_told_with_the_folder(folder):
    with pytest.raises(ConfigError, match=f"FS4190.*{folder}"):
        encoder_file("c.safetensors")


def test_another_file_than_is_meant_is_refused(folder):
    save_file(small().state_dict(), folder / "a.safetensors")
    meant = with_sha256(EncoderSpec("a.safetensors"), "a.safetensors")
    assert read_encoder(meant).keys() == small().state_dict().keys()
    changed = {k: v + 1 for k, v in small().state_dict().items()}
    save_file(changed, folder / "a.safetensors")
    with pytest.raises(ConfigError, match="FS4191"):
        read_encoder(meant)
    with pytest.raises(ConfigError, match="FS4191"):
        with_sha256(meant, "a.safetensors")


def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    # The example of FIPS 180-2.
    assert sha256_of(tmp_path / "a").startswith("ba7816bf8f01cfea")


def test_a_pickle_is_refused_with_the_command_that_converts_it(folder):
    torch.save(small().state_dict(), folder / "a.pth")
    with pytest.raises(StorageError, match=r"FS1109.*fedsemi encoder .*a\.pth"):
        read_encoder(EncoderSpec("a.pth"))


def test_weights_of_a_whole_run_fit_and_those_of_another_network_do_not():
    model = ModelSpec("resnet8", 3, width=4).build(5)
    network = ModelSpec("resnet8", 3, width=4).build(6).encoder
    fill(network, model.state_dict(), "run")  # keys begin with encoder.
    for key, value in network.state_dict().items():
        assert torch.equal(value, model.encoder.state_dict()[key])
    with pytest.raises(ConfigError, match=r"FS4192.*'stem\.0\.weight'"):
        fill(ModelSpec("resnet8", 3, width=8).build(0).encoder, model.state_dict(), "x")


def test_a_mean_without_deviations_is_refused():
    with pytest.raises(ConfigError, match="FS4196"):
        EncoderSpec("a", mean=(0.5,))
