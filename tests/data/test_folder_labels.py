"""Which class a file has: from its sub-folder, from a CSV, or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fedsemi.data.folder_labels import Known, foreign_remedy, known_labels
from fedsemi.data.folder_labels import refuse_foreign as refuse
from fedsemi.data.label_table import FOREIGN, LeftOut
from fedsemi.data.site_settings import SitesSettings
from fedsemi.errors import DataError

CLASSES = ["cat", "dog"]


def settings(**more: Any) -> SitesSettings:
    return SitesSettings(folders=["s"], classes=CLASSES, **more)


def known(folder: Path, *files: str, **more: Any) -> Known:
    return known_labels(folder, "s", settings(**more), files)


def test_the_first_sub_folder_is_the_class_however_deep_a_file_lies(
    tmp_path: Path,
) -> None:
    found = known(tmp_path, "cat/1.png", "dog/2024/may/2.png", "3.png")
    assert found.classes == {"cat/1.png": "cat", "dog/2024/may/2.png": "dog"}
    numbers = [found.label(f, settings()) for f in ("cat/1.png", "3.png")]
    assert numbers == [0, -1]


def test_a_folder_called_unlabeled_is_no_class(tmp_path: Path) -> None:
    found = known(tmp_path, "unlabeled/1.png", "cat/2.png")
    assert found.classes == {"cat/2.png": "cat"} and found.left_out == ()


def test_a_folder_that_is_no_class_is_left_out_with_what_was_meant(
    tmp_path: Path,
) -> None:
    found = known(tmp_path, "catt/1.png", "dog/2.png")
    (foreign,) = found.left_out
    assert (foreign.file, foreign.code) == ("catt/1.png", FOREIGN)
    assert "cat" in foreign.reason and found.faulty == {"catt/1.png"}


def test_a_site_that_says_it_has_no_labels_has_none(tmp_path: Path) -> None:
    assert known(tmp_path, "cat/1.png", labels={"s": "none"}) == Known()


def test_a_csv_counts_before_sub_folders_and_blank_means_unlabeled(
    tmp_path: Path,
) -> None:
    (tmp_path / "labels.csv").write_text("file,label\ncat/1.png,dog\n2.png,\n")
    found = known(tmp_path, "cat/1.png", "2.png")
    assert found.classes == {"cat/1.png": "dog"} and found.num_rows == 2


def test_a_row_about_an_image_that_is_not_there_is_left_out_with_its_line(
    tmp_path: Path,
) -> None:
    (tmp_path / "labels.csv").write_text("file,label\n1.png,cat\n2.png,dog\n")
    (row,) = known(tmp_path, "1.png").left_out
    assert (row.file, row.code, row.line) == ("2.png", "FS3201", 3)


def test_a_csv_that_is_asked_for_and_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"s: labels\.csv "):
        known(tmp_path, "1.png", labels={"s": "csv"})


def test_a_class_outside_the_list_keeps_a_site_out_and_says_what_to_do() -> None:
    refuse([LeftOut("s", "a.png", "FS3101", "broken")], CLASSES)
    by_folder = LeftOut("s", "x/a.png", FOREIGN, "class 'x' unknown")
    with pytest.raises(
        DataError, match=r"FS3202 .*The list is cat, dog; add the class"
    ):
        refuse([by_folder], CLASSES)
    assert "sites.labels = { \"s\" = 'none' }" in foreign_remedy(by_folder)
    by_row = LeftOut("s", "a.png", FOREIGN, "class 'x' unknown", 7)
    assert "sites.labels" not in foreign_remedy(by_row)
