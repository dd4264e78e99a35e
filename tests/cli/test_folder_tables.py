"""Tables of what sites hold, from folders with a few pictures."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.table import Table
from tests.data.pictures import make_site, save_picture

from fedsemi.cli.folder_tables import class_table, counted, site_table
from fedsemi.data.check import Report, check
from fedsemi.data.site_settings import SitesSettings
from fedsemi.text.screen import Screen

CLASSES = ["cat", "dog"]


def rows(table: Table) -> list[str]:
    console = Screen(file=StringIO(), width=160)
    console.print(table)
    assert isinstance(console.file, StringIO)
    return [" ".join(line.split()) for line in console.file.getvalue().splitlines()]


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """A labeled site of mixed pictures, an unlabeled, an empty and a test folder."""
    a = make_site(tmp_path / "a", {"cat": 3, "dog": 1})
    save_picture(a / "dog" / "wide.png", np.zeros((4, 16), np.uint8), "RGB")
    (a / "cat" / "broken.png").write_bytes(b"no")
    b = make_site(tmp_path / "b", {"": 2}, start=50)
    empty = make_site(tmp_path / "c", {})
    test = make_site(tmp_path / "t", {"dog": 2}, start=90)
    folders = [str(a), str(b), str(empty)]
    settings = SitesSettings(folders=folders, classes=CLASSES, test=str(test))
    return check(settings, 8)


def test_each_site_has_a_row_with_what_it_holds_and_what_is_left_out(
    report: Report,
) -> None:
    head, a, b, c, t = rows(site_table(report))
    assert head == "site images labeled left out sizes modes"
    assert a == "a 5 5 1 8x4 to 16x8 L, RGB"
    assert b == "b 2 – – 8x8 L"
    assert c == "c 0 – – –"
    assert t == "t (test) 2 2 – 8x8 L"


def test_classes_are_counted_for_sites_that_have_labels(report: Report) -> None:
    _, a, t = rows(class_table(report, CLASSES))
    assert a == "a cat 3, dog 2"
    assert t == "t (test) dog 2"


def test_large_counts_are_grouped_in_thousands() -> None:
    assert counted({"cat": 12_345, "dog": 6}) == "cat 12,345, dog 6"
    assert counted({}) == ""
