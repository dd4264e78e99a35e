"""Settings laid flat, and without the places of somebody's machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fedsemi.report.run import read_run
from fedsemi.report.settings import differing, flat, shareable, without_places


def test_lists_of_sections_are_numbered_and_lists_of_values_stay_whole() -> None:
    content = {"stages": [{"rounds": 1}, {"rounds": 2}], "mean": [0.5, 0.5], "a": {}}
    assert flat(content) == {
        "stages.0.rounds": 1,
        "stages.1.rounds": 2,
        "mean": [0.5, 0.5],
    }


def test_runs_differ_in_what_one_has_and_the_other_has_not(real_run: Path) -> None:
    run = read_run(real_run)
    other = replace(run, config=run.config | {"seed": 99, "more": {"x": 1}})
    assert differing([run, run]) == {}
    assert differing([run, other]) == {
        "seed": [run.config["seed"], 99],
        "more.x": [None, 1],
    }


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("/home/me/scans", "scans"),
        ("/home/me/my scans/a b", "a b"),
        ("--out=/tmp/x", "--out=x"),
        ("runs/a", "runs/a"),
        ("https://example.org/a", "https://example.org/a"),
        ("1/2", "1/2"),
        (7, 7),
    ],
)
def test_of_an_absolute_path_the_last_part_is_left(text: object, left: object) -> None:
    assert without_places(text) == left


def test_only_settings_that_are_paths_are_shortened() -> None:
    settings = {"sites.folders": ["/a/b", "/c/d"], "start": None, "model.name": "/x/y"}
    assert shareable(settings) == {
        "sites.folders": ["b", "d"],
        "start": None,
        "model.name": "/x/y",
    }
