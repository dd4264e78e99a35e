"""Pages show what benchmarks measured: every part between marks is made of records."""

from __future__ import annotations

import re

import pytest
from benchmarks.common import ROOT
from benchmarks.numbers import Shown, add_record, read_records
from benchmarks.pages import PAGES, SHOWN


@pytest.mark.parametrize("table", SHOWN, ids=lambda table: table.name)
def test_a_page_shows_the_records_as_they_are(table):
    assert table.now() == table.made(), "run `make results`"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_whole_page_is_that_of_the_records(path):
    assert path.read_text("utf-8") == PAGES[path](), "run `make results`"


def test_no_mark_of_a_page_is_without_its_maker():
    mark = re.compile(r"<!-- numbers: (\S+) -->")
    found = {
        (page, name)
        for page in (ROOT / "docs").glob("*.md")
        for name in mark.findall(page.read_text("utf-8"))
    }
    assert found == {(table.page, table.name) for table in SHOWN}


def test_numbers_are_written_into_their_part_of_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- numbers: a -->\nold\n<!-- end -->\nafter\n")
    table = Shown(page, "a", lambda: "| new |")
    table.write()
    assert page.read_text() == (
        "before\n<!-- numbers: a -->\n\n| new |\n\n<!-- end -->\nafter\n"
    )
    assert table.now() == "| new |"


@pytest.mark.parametrize(
    "text",
    [
        "no mark",
        "<!-- numbers: a -->\nno end",
        "<!-- numbers: a -->\n\n<!-- end -->\n<!-- numbers: a -->\n\n<!-- end -->\n",
    ],
)
def test_a_page_without_exactly_one_place_is_left_alone(tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(ValueError, match="has not one place for 'a'"):
        Shown(page, "a", str).write()
    assert page.read_text() == text


def test_records_are_lines_and_none_without_a_file(tmp_path):
    path = tmp_path / "records.jsonl"
    assert read_records(path) == []
    add_record(path, {"a": 1})
    add_record(path, {"a": 2})
    assert read_records(path) == [{"a": 1}, {"a": 2}]
