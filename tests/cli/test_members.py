"""The operator lets sites in and out; the owners of sites come and go."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("flwr")

from fedsemi.cli import app
from fedsemi.deployment.certificates import make_certificates, new_site_key
from fedsemi.deployment.coordinator.members import Members
from fedsemi.deployment.coordinator.register import read_enrolled
from fedsemi.deployment.site.standing import Standing, read_standing, write_standing
from fedsemi.errors import ConfigError


@pytest.fixture
def coordinator(tmp_path: Path) -> Path:
    sites = [tmp_path / f"site-{number}" for number in range(2)]
    make_certificates(tmp_path / "coordinator", sites, ["localhost"])
    return tmp_path / "coordinator"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site-3"
    folder.mkdir()
    (folder / "site.json").write_text('{"id": 3, "class_names": ["a", "b"]}')
    return folder


def said(*words: object) -> str:
    done = CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def test_an_operator_admits_lists_and_retires(coordinator: Path, tmp_path: Path):
    public = new_site_key(tmp_path / "site-2")
    counts = ("--labeled", 5, "--unlabeled", 70)
    told = said("admit", coordinator, 2, "--key", public, *counts)
    assert told == "site 2 may take part in the next run"
    assert set(read_enrolled(coordinator)) == {0, 1, 2}
    assert "site 1 takes no part from the next" in said("retire", coordinator, 1)
    listed = said("members", coordinator)
    assert "2 5 70 yes" in listed
    assert "1 ? ? was retired by the coordinator" in listed


def test_counts_come_in_pairs(coordinator: Path):
    with pytest.raises(ConfigError, match="FS5045 give both"):
        said("admit", coordinator, 0, "--labeled", 3)


def test_an_operator_lets_in_again_who_had_left(coordinator: Path):
    Members(coordinator).excuse(1, "FS5041", "has left the federation for good")
    said("admit", coordinator, 1)
    assert Members(coordinator).absent() == {}


def test_an_owner_pauses_returns_and_leaves(site: Path):
    assert "is away until `fedsemi site return`" in said("site", "pause", site)
    assert read_standing(site) == Standing("away")
    assert "UTC" in said("site", "pause", site, "--hours", 24)
    assert read_standing(site).until is not None
    assert "takes part again" in said("site", "return", site)
    assert read_standing(site) == Standing()
    assert "this site leaves" in said("site", "leave", site)
    assert read_standing(site) == Standing("left")


def test_who_has_left_needs_its_coordinator_to_come_back(site: Path):
    write_standing(site, Standing("left", told=True))
    assert "have its coordinator run `fedsemi admit`" in said("site", "return", site)


def test_only_a_folder_of_a_site_can_leave(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"FS5045 .* is no folder of a site"):
        said("site", "leave", tmp_path)
