"""The config that `fedsemi init` writes: it loads, and says what was found."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.data.pictures import make_site

from fedsemi.config.experiment import load_config
from fedsemi.data.site_settings import SitesSettings
from fedsemi.data.starter import starter_config
from fedsemi.data.survey import propose, survey


@pytest.fixture
def sites(tmp_path: Path) -> list[Path]:
    a = make_site(tmp_path / "data" / "a", {"cat": 3, "dog": 3})
    b = make_site(tmp_path / "data" / 'b "1"', {"": 4}, start=50)
    return [a, b]


def written(sites: list[Path], place: Path, **more: Any) -> tuple[str, SitesSettings]:
    seen = [survey(site) for site in sites]
    settings = replace(propose(seen, None).settings, **more)
    return starter_config(settings, seen, place), settings


def test_the_config_loads_and_finds_the_folders_from_where_it_lies(
    sites: list[Path], tmp_path: Path
) -> None:
    place = tmp_path / "configs"
    place.mkdir()
    text, settings = written(sites, place)
    assert tomllib.loads(text)["sites"]["folders"] == ["../data/a", '../data/b "1"']
    (place / "own.toml").write_text(text, "utf-8")
    loaded = load_config(place / "own.toml")
    assert loaded.sites is not None
    assert [Path(folder).resolve() for folder in loaded.sites.folders] == sites
    assert loaded.sites.classes == settings.classes == ["cat", "dog"]
    assert loaded.guard.enabled


def test_each_site_says_where_its_labels_come_from(
    sites: list[Path], tmp_path: Path
) -> None:
    text, settings = written(sites, tmp_path)
    labels = tomllib.loads(text)["sites"]["labels"]
    assert labels == {name: settings.labels_of(name) for name in ("a", 'b "1"')}


def test_a_test_folder_is_named_or_else_a_part_is_set_aside(
    sites: list[Path], tmp_path: Path
) -> None:
    own = tomllib.loads(written(sites, tmp_path)[0])["sites"]
    assert own["test_fraction"] == 0.2 and "test" not in own
    text, _ = written(sites, tmp_path, test=str(tmp_path / "t"))
    own = tomllib.loads(text)["sites"]
    assert own["test"] == "t" and "test_fraction" not in own


def test_the_range_of_deep_pictures_is_set_where_there_are_some(
    sites: list[Path], tmp_path: Path
) -> None:
    assert (
        "sixteen_bit_range" not in tomllib.loads(written(sites, tmp_path)[0])["sites"]
    )
    text, _ = written(sites, tmp_path, sixteen_bit_range=[0, 4095])
    assert tomllib.loads(text)["sites"]["sixteen_bit_range"] == [0, 4095]


def test_small_sites_learn_in_small_batches(sites: list[Path], tmp_path: Path) -> None:
    assert tomllib.loads(written(sites, tmp_path)[0])["local"]["batch_size"] == 16


def test_a_name_that_a_reader_could_not_see_is_spelled(tmp_path: Path) -> None:
    hidden = "d\u202eog"
    site = make_site(tmp_path / "a", {"cat": 2, hidden: 2})
    text, _ = written([site], tmp_path)
    assert "\u202e" not in text and "\\u202e" in text
    assert sorted(tomllib.loads(text)["sites"]["classes"]) == ["cat", hidden]
