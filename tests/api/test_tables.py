"""Tables that show themselves, with pandas and without."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from fedsemi.api import tables
from fedsemi.api.tables import Rows, table

ROWS = [{"client": 0, "share": 0.123456}, {"client": 1, "share": None}]


def test_without_pandas_a_table_is_a_list_of_rows_that_is_readable() -> None:
    found = table(ROWS)
    assert found == ROWS
    assert repr(found) == "client   share\n     0  0.1235\n     1       –"


def test_with_pandas_a_table_is_a_data_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in: Any = ModuleType("pandas")
    stand_in.DataFrame = lambda rows: ("DataFrame", rows)
    monkeypatch.setitem(sys.modules, "pandas", stand_in)
    monkeypatch.setattr(tables, "has_pandas", lambda: True)
    assert table(ROWS) == ("DataFrame", ROWS)


def test_a_long_table_shows_its_head_and_tail_only() -> None:
    lines = repr(Rows({"round": number} for number in range(1000))).splitlines()
    assert len(lines) == 22
    assert [line.strip() for line in (lines[1], lines[11], lines[-1])] == [
        "0",
        "…",
        "999",
    ]


def test_a_part_of_a_table_is_a_table() -> None:
    assert repr(Rows(ROWS)[1:]) == "client  share\n     1      –"
    assert Rows(ROWS)[0] == ROWS[0]
    assert Rows(ROWS).column("client") == [0, 1]


def test_a_notebook_shows_names_as_text_and_never_as_markup() -> None:
    page = Rows([{"class": "<script>", "n": 1}])._repr_html_()
    assert page == (
        "<table><tr><th>class</th><th>n</th></tr>"
        "<tr><td>&lt;script&gt;</td><td>1</td></tr></table>"
    )


def test_an_empty_table_says_so() -> None:
    assert repr(Rows()) == "(no rows)"
    assert "(no rows)" in Rows()._repr_html_()
    assert Rows().columns == []
