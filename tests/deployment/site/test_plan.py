"""What a plan says of files: names alone, which are looked for in one folder."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
from safetensors.torch import save_file
from typer.testing import CliRunner

pytest.importorskip("flwr")

from flwr.app import Context, RecordDict

from fedsemi.cli import app
from fedsemi.data.site import Site, write_site
from fedsemi.deployment.site.agreement import AGREED
from fedsemi.deployment.site.client_app import deployed_desk, leaving
from fedsemi.deployment.site.plan import read_plan
from fedsemi.deployment.site.policy import Policy
from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.models import ModelSpec

from ..conftest import tiny


@pytest.fixture
def encoders(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("FEDSEMI_ENCODERS", str(tmp_path / "encoders"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "encoders").mkdir()
    network = ModelSpec("resnet8", 3, width=4).build(5).encoder
    save_file(network.state_dict(), tmp_path / "encoders" / "e.safetensors")
    return tmp_path / "encoders"


@pytest.fixture
def simulation(encoders):
    encoder = {"weights": "e.safetensors", "cached_views": 0, "adapter": 8}
    return tiny(
        model={"name": "resnet8", "width": 4, "encoder": encoder},
        local={"batch_size": 2},
    )


@pytest.fixture
def folder(simulation, tmp_path) -> Path:
    site = Site(simulation.federation.clients[0], simulation.class_names)
    return write_site(tmp_path / "site-0", site)


@pytest.fixture
def looked_at(monkeypatch) -> list[str]:
    """Every path that anybody asks the file system for."""
    found: list[str] = []

    def noting(call):
        def noted(path, *more, **named):
            found.append(str(path))
            return call(path, *more, **named)

        return noted

    for name in ("stat", "lstat", "open", "readlink"):
        monkeypatch.setattr(os, name, noting(getattr(os, name)))
    monkeypatch.setattr("io.open", noting(open))
    return found


def desk(folder: Path, plan: str):
    return deployed_desk(
        Context(1, 1, {"data": str(folder)}, RecordDict(), {"plan": plan})
    )


def naming(plan: str, **encoder) -> str:
    content = json.loads(plan)
    content["model"]["encoder"] |= encoder
    return json.dumps(content, sort_keys=True)


def test_a_plan_learns_nothing_of_a_file_that_it_names_by_a_path(
    simulation, folder, tmp_path, looked_at
):
    """It could ask whether there is a file, and whether it is what one thinks it is."""
    note = tmp_path / "private-note.txt"
    note.write_text("the patient of room 7")
    right = hashlib.sha256(note.read_bytes()).hexdigest()
    looked_at.clear()
    told = set()
    for sha256 in (right, "0" * 64, None):
        plan = naming(simulation.as_json(), weights=str(note), sha256=sha256)
        with pytest.raises(ProtocolError) as caught:
            desk(folder, plan)
        told.add(leaving(caught.value))
    (said,) = told
    assert said.startswith("FS2139 the plan names the file ")
    assert not [path for path in looked_at if "private-note" in path]
    assert not (folder / AGREED).exists()


@pytest.mark.parametrize(
    "weights",
    [
        "/etc/passwd",
        "../e.safetensors",
        "encoders/e.safetensors",
        "./e.safetensors",
        "e.safetensors/",
        "..",
        ".",
        "",
        "~/e.safetensors",
        r"C:\Users\me\e.safetensors",
        r"..\e.safetensors",
        "C:e.safetensors",
        "C:/e.safetensors",
        r"\\host\share\e.safetensors",
        "e.safetensors\0",
        7,
        ["e.safetensors"],
    ],
)
def test_what_is_no_bare_name_is_refused_before_the_site_looks(
    simulation, folder, looked_at, weights
):
    plan = naming(simulation.as_json(), weights=weights)
    looked_at.clear()
    with pytest.raises(ProtocolError, match="FS2139"):
        read_plan(plan, Policy(), ())
    assert looked_at == []


def test_the_owner_cannot_agree_to_such_a_plan_either(simulation, folder, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(naming(simulation.as_json(), weights="/etc/passwd"))
    said = CliRunner().invoke(app, ["agree", str(folder), str(path), "--beyond-bounds"])
    assert "FS2139" in str(said.exception)


@pytest.mark.parametrize(
    "name",
    ["torchscript:/etc/passwd", r"onnx:..\e.onnx", "timm:local-dir:/etc", "onnx:"],
)
def test_an_encoder_that_is_all_of_a_file_is_named_in_the_same_way(
    simulation, looked_at, name
):
    content = json.loads(simulation.as_json())
    for part in (content["model"], content["experiment"]["model"]):
        part["name"] = name
        part["encoder"]["weights"] = None
        part["width"] = None
    looked_at.clear()
    with pytest.raises(ProtocolError, match="FS2139"):
        read_plan(json.dumps(content), Policy(), (name,))
    assert looked_at == []


def test_a_file_beside_the_site_is_not_taken_for_one_of_its_encoders(
    simulation, folder, encoders, tmp_path, monkeypatch
):
    plan = simulation.as_json()
    found = desk(folder, plan)
    assert found.introduction().encoder_sha256 == simulation.model.encoder_sha256
    assert found.blueprint.sha256 == simulation.sha256
    (encoders / "e.safetensors").rename(tmp_path / "e.safetensors")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="FS4190"):
        desk(folder, plan).introduction()


def test_paths_that_are_for_others_are_not_looked_at(simulation, folder, looked_at):
    """Folders of the dealer, a start of the coordinator, a partition of both."""
    (folder / "link").symlink_to(folder / "private")
    twice = [str(folder / "link"), str(folder / "private")]
    content = json.loads(simulation.as_json())
    experiment = content["experiment"]
    experiment["start"] = str(folder / "private-start")
    experiment["data"] = {"name": "folders", "image_size": 32}
    experiment["partition"] = {}
    experiment["sites"] = {"folders": twice, "classes": ["a", "b"]}
    experiment["sites"]["test"] = str(folder / "private-test")
    plan, path = json.dumps(content), folder / "plan.json"
    path.write_text(plan)
    looked_at.clear()
    assert desk(folder, plan).introduction().client == 0
    shown = CliRunner().invoke(app, ["site", "egress", str(folder), str(path)])
    assert shown.exit_code == 0, shown.exception
    assert not [each for each in looked_at if "private" in each or "link" in each]


def test_a_published_partition_is_not_looked_at(simulation, folder, looked_at):
    content = json.loads(simulation.as_json())
    partition = {"file": str(folder / "private.pth"), "num_clients": 3}
    content["experiment"]["partition"] = partition
    content["experiment"]["data"] = {"name": "synthetic"}
    looked_at.clear()
    assert desk(folder, json.dumps(content)).introduction().client == 0
    assert not [path for path in looked_at if "private" in path]
