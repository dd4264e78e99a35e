"""Lines of records, and the parts of pages that are written from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Shown:
    """A part of a page between two marks, and what it is made of."""

    page: Path
    name: str
    made: Callable[[], str]

    def now(self) -> str:
        """Return what the page shows."""
        return self._parts()[1].strip()

    def write(self) -> None:
        """Write it anew, and leave the rest of the page as it is."""
        before, _, after = self._parts()
        self.page.write_text(f"{before}\n{self.made()}\n{after}", encoding="utf-8")

    def _parts(self) -> tuple[str, str, str]:
        start = f"<!-- numbers: {self.name} -->\n"
        before, *rest = self.page.read_text("utf-8").split(start)
        if len(rest) != 1 or END not in rest[0]:
            raise ValueError(f"{self.page} has not one place for '{self.name}'")
        shown, _, after = rest[0].partition(END)
        return before + start, shown, END + after
