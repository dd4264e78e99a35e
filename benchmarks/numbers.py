"""Lines of records, and the parts of pages that are written from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

END = "\n<!-- end -->"


def read_records(path: Path) -> list[dict[str, Any]]:
    """Read the lines of a file, which need not be there yet."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def add_record(path: Path, record: Mapping[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def shown_in(page: Path, name: str) -> str:
    """Return what a page shows between the marks of that name."""
    return _parts(page, name)[1].strip()


def write_into(page: Path, name: str, text: str) -> None:
    """Write the numbers of that name, and leave the rest of the page as it is."""
    before, _, after = _parts(page, name)
    page.write_text(f"{before}\n{text}\n{after}", encoding="utf-8")


def _parts(page: Path, name: str) -> tuple[str, str, str]:
    start = f"<!-- numbers: {name} -->\n"
    before, found, rest = page.read_text("utf-8").partition(start)
    if not found:
        raise ValueError(f"{page} has no place for the numbers of '{name}'")
    shown, end, after = rest.partition(END)
    return before + start, shown, end + after
