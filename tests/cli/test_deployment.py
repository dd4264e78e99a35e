from __future__ import annotations

import json

import pytest
from PIL import Image
from safetensors.torch import load_file
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.data.site import read_site
from fedsemi.errors import CannotCreate, ConfigError, DataError

_CONFIG = """\
[data]
name = "synthetic"
train_limit = 60
test_limit = 8
[partition]
num_clients = 3
[model]
name = "resnet8"
width = 2
[[stages]]
method = "semianagg"
rounds = 1
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(_CONFIG)
    return path


def _run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)


def test_no_site_gets_the_labels_of_its_unlabeled_images(config, tmp_path):
    out = tmp_path / "trial"
    assert _run("deal", config, "--out", out).exit_code == 0
    names = {"labeled_images", "labels", "unlabeled_images"}
    for number in range(3):
        tensors = load_file(out / f"site-{number}" / "site.safetensors")
        assert tensors.keys() == names
        assert len(tensors["labels"]) == len(tensors["labeled_images"])
    assert (out / "coordinator" / "plan.json").exists()


def _dealt_guard(config, out, *settings):
    """Deal with some settings; return what the plan says of the guard, and the text."""
    done = _run("deal", config, "--out", out, *settings)
    plan = json.loads((out / "coordinator" / "plan.json").read_text())
    return plan["experiment"]["guard"], done.output


def test_what_is_dealt_is_guarded_although_the_config_does_not_say(config, tmp_path):
    guard, told = _dealt_guard(config, tmp_path / "a")
    assert guard["enabled"] and "guard on" in told
    guard, told = _dealt_guard(config, tmp_path / "b", "--set", "guard.cap=3.0")
    assert guard["enabled"] and guard["cap"] == 3.0


def test_a_guard_that_the_config_switches_off_stays_off_and_is_named(config, tmp_path):
    off = ("--set", "guard.enabled=false")
    guard, told = _dealt_guard(config, tmp_path / "trial", *off)
    assert not guard["enabled"] and "guard off" in told


def test_wire_lists_what_semianagg_sends(config):
    shown = _run("wire", config).output
    assert "weights" in shown and "num_pseudo" in shown and "[4]" in shown


def test_wire_lists_what_labeled_sites_send_too(config):
    held_out = ("--set", "evaluation.validation_fraction=0.3")
    assert "findings.class_count" in _run("wire", config, *held_out).output
    assert "findings" not in _run("wire", config).output


def _own_config(folder, sites="", sections=""):
    """Write a config for pictures of cats and dogs in the folder `clinic`."""
    config = folder / "own.toml"
    config.write_text(
        '[data]\nname = "folders"\nimage_size = 16\n[sites]\nfolders = ["clinic"]\n'
        f'classes = ["cat", "dog"]\n{sites}[model]\nname = "resnet8"\nwidth = 2\n'
        f'{sections}[[stages]]\nmethod = "supervised"\nrounds = 1\n'
    )
    return config


def test_a_site_packs_its_own_folder_of_images(tmp_path):
    pictures = tmp_path / "clinic"
    for name, count in (("cat", 2), ("dog", 1)):
        (pictures / name).mkdir(parents=True)
        for i in range(count):
            color = (40 * i, 90, 200 if name == "cat" else 10)
            Image.new("RGB", (20, 20), color).save(pictures / name / f"{i}.png")
    config = _own_config(tmp_path)
    done = _run("pack", config, pictures, "--id", 4, "--out", tmp_path / "site-4")
    assert "3 labeled and 0 unlabeled" in done.output
    site = read_site(tmp_path / "site-4")
    assert site.client.id == 4
    assert sorted(site.client.labels.tolist()) == [0, 0, 1]


def test_a_site_that_packs_its_images_sets_whole_patients_aside(tmp_path):
    pictures = tmp_path / "clinic"
    (pictures / "cat").mkdir(parents=True)
    for patient in range(5):
        for view in range(2):
            color = (40 * patient, 90 * view, 200)
            name = f"P{patient}_{view}.png"
            Image.new("RGB", (20, 20), color).save(pictures / "cat" / name)
    held_out = "[evaluation]\nvalidation_fraction = 0.4\n"
    config = _own_config(tmp_path, 'patient = "(P[0-9])_"\n', held_out)
    done = _run("pack", config, pictures, "--id", 0, "--out", tmp_path / "site-0")
    assert "6 labeled and 4 held out" in done.output
    site = read_site(tmp_path / "site-0")
    assert (site.client.num_labeled, len(site.held_out)) == (6, 4)
    reds = [
        {int(image[0, 0, 0]) for image in images}
        for images in (site.client.labeled_images, site.held_out.images)
    ]
    assert not reds[0] & reds[1]  # a patient has one red
    assert len(reds[1]) == 2


def test_a_config_without_sites_cannot_be_packed(config, tmp_path):
    with pytest.raises(ConfigError, match=r"FS4105 .*has no \[sites\]"):
        _run("pack", config, tmp_path, "--id", 0, "--out", tmp_path / "site")


def test_a_folder_without_sites_gets_no_certificates(tmp_path):
    pytest.importorskip("flwr")
    with pytest.raises(DataError, match="FS3020 there is no site in"):
        _run("certificates", tmp_path)


def test_a_site_makes_its_own_key_and_is_told_what_to_send(tmp_path):
    pytest.importorskip("flwr")
    berlin = tmp_path / "berlin"
    done = _run("key", berlin)
    assert done.exit_code == 0
    assert "keys/site.pub" in done.output and "enrolled/site-N.pub" in done.output
    assert (berlin / "keys/site.key").stat().st_mode & 0o077 == 0
    with pytest.raises(CannotCreate, match="FS5025"):
        _run("key", berlin)


def test_a_key_is_enrolled_under_the_id_of_the_site_not_its_folders_name(tmp_path):
    pytest.importorskip("flwr")
    (tmp_path / "site.json").write_text('{"id": 4, "class_names": ["a", "b"]}')
    assert "enrolled/site-4.pub" in _run("key", tmp_path).output
