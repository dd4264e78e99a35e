"""What a run becomes elsewhere."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from safetensors.torch import save_file

from fedsemi.client.evaluate import predict
from fedsemi.config.experiment import make_experiment
from fedsemi.errors import StorageError
from fedsemi.models import ModelSpec
from fedsemi.report.run import read_run
from fedsemi.runs.folder import MODEL
from fedsemi.simulation.build import build
from fedsemi.storage import read_weights
from fedsemi.use.deployed import load_model
from fedsemi.use.exports import (
    save_csv,
    save_onnx,
    save_tensorboard,
    save_torch,
    scalars,
)
from fedsemi.use.predict import open_model
from fedsemi.use.session import run_and_record


@pytest.fixture
def images() -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    pixels = torch.randint(256, (37, 3, 12, 12), generator=generator)
    return pixels.to(torch.uint8)


def test_the_model_is_the_one_that_was_trained(real_run, images) -> None:
    run = read_run(real_run)
    simulation = build(make_experiment(run.config))
    setup = simulation.setup(simulation.experiment.stages[-1])
    trained = setup.load(read_weights(real_run / MODEL))
    expected = predict(trained, images, setup.views)
    model, card = load_model(real_run)
    assert card.class_names == ("disc", "cross", "rows", "columns")
    with torch.inference_mode():
        torch.testing.assert_close(model(images), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("suffix", [".onnx", ".pt2"])
def test_an_exported_model_predicts_the_same(
    real_run, images, tmp_path: Path, suffix: str
) -> None:
    if suffix == ".onnx":
        pytest.importorskip("onnxruntime", reason="needs fedsemi[export]")
    path = tmp_path / f"model{suffix}"
    {".onnx": save_onnx, ".pt2": save_torch}[suffix](read_run(real_run), path)
    model, card = load_model(real_run)
    exported, other_card = open_model(path)
    assert replace(other_card, about=()) == card
    assert dict(other_card.about)["Guard"]
    with torch.inference_mode():
        expected, found = model(images), exported(images)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
    assert torch.equal(found.argmax(1), expected.argmax(1))


def test_csv_has_a_line_for_each_round_and_client(real_run, tmp_path: Path) -> None:
    rounds, clients = save_csv(read_run(real_run), tmp_path)
    with rounds.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["round"] for row in rows] == ["1", "2", "1", "2"]
    assert all(0 <= float(row["accuracy"]) <= 1 for row in rows)
    with clients.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 1 + 2 * 4  # one labeled client, then all four
    assert {row["client"] for row in rows} == {"0", "1", "2", "3"}


def test_what_masks_hide_is_left_empty(real_run, tmp_path: Path) -> None:
    run = read_run(real_run)
    run.records[-1] = replace(run.records[-1], hidden=True)
    _, clients = save_csv(run, tmp_path)
    with clients.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert (
        {row["contribution"] for row in rows[-4:]} == {""} != {rows[0]["contribution"]}
    )
    assert "contribution/client 0" in scalars(run.records[0])
    assert "contribution/client 0" not in scalars(run.records[-1])


def test_csv_names_the_sites_of_own_images(real_run, tmp_path: Path) -> None:
    run = read_run(real_run)
    for id, own in run.analysis["clients"].items():
        own["site"] = f"clinic {id}"
    _, clients = save_csv(run, tmp_path)
    with clients.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(row["site"] == f"clinic {row['client']}" for row in rows)
    assert all(int(row["num_labeled"]) >= 0 for row in rows)


def test_tensorboard_reads_the_scalars_back(real_run, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="needs fedsemi[tensorboard]")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = read_run(real_run)
    save_tensorboard(run, tmp_path)
    events = EventAccumulator(str(tmp_path)).Reload()
    values = [event.value for event in events.Scalars("test/accuracy")]
    np.testing.assert_allclose(values, [r.test.accuracy for r in run.records], 1e-6)
    assert [e.step for e in events.Scalars("contribution/client 3")] == [3, 4]


def test_a_model_without_a_card_is_refused(real_run, tmp_path: Path) -> None:
    (tmp_path / MODEL).write_bytes((real_run / MODEL).read_bytes())
    with pytest.raises(StorageError, match=r"model\.json"):
        load_model(tmp_path)


@pytest.fixture
def pretrained_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Train adapter and head on a frozen encoder for a round."""
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / "e.safetensors"
    save_file(ModelSpec("resnet8", 3, width=4).build(5).encoder.state_dict(), file)
    encoder = {"weights": str(file), "cached_views": 1}
    content = {
        "data": {"name": "synthetic", "train_limit": 60, "test_limit": 8},
        "partition": {"num_clients": 3},
        "model": {"name": "resnet8", "width": 4, "encoder": encoder},
        "stages": [{"method": "supervised", "rounds": 1}],
    }
    simulation = build(make_experiment(content))
    console = Console(file=io.StringIO())
    run_and_record(simulation, tmp_path / "run", "small", 1, console)
    assert "computed once" in console.file.getvalue()
    return tmp_path / "run"


def test_a_frozen_encoder_is_not_in_the_run_but_in_what_is_exported(
    pretrained_run: Path, images: torch.Tensor, tmp_path: Path
) -> None:
    kept = read_weights(pretrained_run / MODEL)
    assert {key.rsplit(".", 2)[0] for key in kept} == {"encoder.adapter", "head"}
    model, card = load_model(pretrained_run)
    with torch.inference_mode():
        due = model(images)
    setup = build(make_experiment(read_run(pretrained_run).config))
    trained = setup.setup(setup.experiment.stages[-1]).load(kept)
    torch.testing.assert_close(due, predict(trained, images, card.views))
    save_torch(read_run(pretrained_run), tmp_path / "m.pt2")
    (tmp_path / "e.safetensors").unlink()  # whoever gets it needs no encoder
    program = torch.export.load(tmp_path / "m.pt2").module()
    torch.testing.assert_close(program(images), due)
