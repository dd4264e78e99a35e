"""The page on fidelity names tests and sections that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "fidelity.md").read_text("utf-8")


def test_every_test_that_the_page_names_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    missing = [
        f"{path}::{name}"
        for path, name in named
        if not re.search(rf"^def {name}\(", (ROOT / path).read_text("utf-8"), re.M)
    ]
    assert named and missing == []


def test_every_row_of_what_is_equal_or_repaired_names_a_test() -> None:
    equal, repaired = PAGE.split("## Equal\n")[1].split("## Repaired since\n")
    repaired = repaired.split("\n## ")[0]
    rows = [line for line in (equal + repaired).split("\n") if line.startswith("| ")]
    headers = [row for row in rows if row.startswith("| component ")]
    silent = [row for row in rows if row not in headers and ".py::test_" not in row]
    assert len(headers) == 2 and silent == []


def test_every_section_that_the_page_points_to_exists() -> None:
    concordance = (ROOT / "docs" / "concordance.md").read_text("utf-8")
    titles = re.findall(r"^## (.+)$", concordance, re.M)
    anchors = {re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles}
    assert set(re.findall(r"concordance\.md#([\w-]+)", PAGE)) <= anchors
