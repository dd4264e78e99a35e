"""Whether a data set seems to be at hand, without reading it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fedsemi.data.readers.source import DatasetSource


def found(folder: Path) -> tuple[Path, ...]:
    return tuple(folder.glob("x.npz"))


SOURCE = DatasetSource(
    "x", "a set", ("a", "b"), (2, 1), "free", "get it", read=lambda _: None, find=found
)


def test_one_folder_with_its_files_is_enough(tmp_path: Path) -> None:
    full, empty = tmp_path / "full", tmp_path / "empty"
    full.mkdir()
    assert not SOURCE.at_hand([empty, full])
    (full / "x.npz").touch()
    assert SOURCE.at_hand([empty, full]) and not SOURCE.at_hand([empty])


def test_a_set_that_needs_no_files_is_always_there() -> None:
    assert replace(SOURCE, find=None).at_hand([])


def test_a_set_that_comes_with_a_package_is_there_if_that_is_installed() -> None:
    assert replace(SOURCE, package="json").at_hand([])
    assert not replace(SOURCE, package="no_such_package").at_hand([])
