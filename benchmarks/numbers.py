"""Lines of records and the part of a page that is written from them.

For benchmarks that measure learning, which keep a line of JSON for each run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

START, END = "<!-- numbers -->\n", "\n<!-- end -->"


def read_records(path: Path) -> list[dict[str, Any]]:
    """Read the lines of a file, which need not be there yet."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def add_record(path: Path, record: Mapping[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def shown_in(page: Path) -> str:
    """Return what a page shows as numbers."""
    return _parts(page)[1].strip()


def write_into(page: Path, text: str) -> None:
    """Write the numbers of a page, and leave the rest as it is."""
    before, _, after = _parts(page)
    page.write_text(f"{before}{START}\n{text}\n{END}{after}", encoding="utf-8")


def _parts(page: Path) -> tuple[str, str, str]:
    before, rest = page.read_text("utf-8").split(START)
    shown, after = rest.split(END)
    return before, shown, after
