"""The section [sites], and typing slips in every key of a config."""

import dataclasses
import random
import re
from pathlib import Path
from typing import Any

import pytest

from fedsemi.config.experiment import Experiment, load_config, make_experiment
from fedsemi.data.site_settings import SitesSettings
from fedsemi.errors import ConfigError
from fedsemi.objectives.workbench import LocalTraining

BASE: dict[str, Any] = {
    "data": {"name": "folders", "image_size": 32},
    "sites": {"folders": ["a", "b"], "classes": ["cat", "dog"]},
    "model": {"name": "resnet8"},
    "stages": [{"method": "supervised", "rounds": 1}],
}


def with_sites(**more: Any) -> dict[str, Any]:
    return BASE | {"sites": BASE["sites"] | more}


def test_paths_are_relative_to_the_config(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text(
        'data = {name = "folders", image_size = 32}\nmodel = {name = "resnet8"}\n'
        'sites = {folders = ["a", "/b"], classes = ["x", "y"], test = "t"}\n'
        'stages = [{method = "supervised", rounds = 1}]\n'
    )
    sites = load_config(path).sites
    assert sites is not None
    assert sites.folders == [str(tmp_path / "a"), "/b"]
    assert sites.test == str(tmp_path / "t")
    assert make_experiment(load_config(path).model_dump(mode="json")).sites == sites


@pytest.mark.parametrize(
    ("more", "part"),
    [
        ({"folders": ["a", "x/a"]}, "names 'a' twice"),
        ({"classes": ["cat", "cat"]}, "names 'cat' twice"),
        ({"classes": ["cat"]}, "sites.classes"),
        ({"labels": {"c": "csv"}}, "names the site 'c'"),
        ({"labels": "excel"}, "sites.labels"),
        ({"patient": "("}, "no regular expression"),
        ({"patient": "P[0-9]+"}, "0 groups"),
        ({"mean": [0.5]}, "'sites.mean' needs 3"),
        ({"sixteen_bit_range": [5, 5]}, "must rise"),
        ({"channels": 4}, "sites.channels"),
        ({"background": [0, 0, 256]}, "sites.background"),
        ({"max_bad": 2}, "sites.max_bad"),
        ({"test_fraction": 0}, "sites.test_fraction"),
    ],
)
def test_impossible_sites_are_refused(more: dict[str, Any], part: str) -> None:
    with pytest.raises(ConfigError) as error:
        make_experiment(with_sites(**more))
    assert part in str(error.value)


@pytest.mark.parametrize(
    "change",
    [
        {"sites": None},
        {"data": {"name": "synthetic"}},
        {"data": {"name": "folders"}},
        {"partition": {"num_clients": 3}},
        {"data": {"name": "folders", "image_size": 32, "train_limit": 5}},
    ],
)
def test_what_would_be_ignored_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        make_experiment(BASE | change)


def slips(key: str) -> list[str]:
    """Leave a letter out, double one, exchange two neighbors."""
    place = random.Random(key).randrange(1, max(2, len(key) - 1))
    swapped = key[: place - 1] + key[place] + key[place - 1] + key[place + 1 :]
    return [key[:place] + key[place + 1 :], key[:place] + key[place - 1 :], swapped]


def all_keys() -> list[tuple[str, str]]:
    keys = [("", key) for key in Experiment.model_fields]
    for name in ("data", "partition", "model", "evaluation"):
        section = Experiment.model_fields[name].annotation
        keys += [(name, key) for key in section.model_fields]  # type: ignore[union-attr]
    for name, kind in (("sites", SitesSettings), ("local", LocalTraining)):
        keys += [(name, field.name) for field in dataclasses.fields(kind)]
    return keys


def test_every_misspelled_key_is_refused_and_nearly_all_are_recognized(
    promise: Any,
) -> None:
    right, tried = 0, 0
    for section, key in all_keys():
        for slip in slips(key):
            if slip == key:
                continue
            content = dict(BASE)
            inner = dict(content.get(section, {})) if section else content
            inner[slip] = 1
            if section:
                content[section] = inner
            with pytest.raises(ConfigError, match="FS4101") as error:
                make_experiment(content)
            tried += 1
            meant = re.search(r"did you mean '(\w+)'", str(error.value))
            right += bool(meant and meant.group(1) == key)
    promise(
        "IN-15 misspelled keys, the right one is named in 95 %", tried, tried - right
    )
    assert tried > 100 and right / tried >= 0.95
