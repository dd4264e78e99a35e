"""The page of errors is complete."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def codes(text: str) -> set[str]:
    return set(re.findall(r"FS\d{4}", text))


def test_every_code_in_the_source_is_on_the_page_and_the_other_way_round() -> None:
    source = "\n".join(p.read_text("utf-8") for p in (ROOT / "src").rglob("*.py"))
    page = (ROOT / "docs" / "errors.md").read_text("utf-8")
    assert codes(source) == codes(page)
