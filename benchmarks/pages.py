"""Write all tables of the documentation that come from benchmarks, from their records.

`python -m benchmarks.pages` measures nothing; `make results` calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks import attacks, cards, defenses, demo, estimates, pretrained, sections

SHOWN = (
    *sections.SHOWN,
    *defenses.SHOWN,
    cards.SHOWN,
    demo.SHOWN,
    estimates.SHOWN,
    pretrained.SHOWN,
)


PAGES: dict[Path, Callable[[], str]] = {
    sections.RESULTS: lambda: sections.results(sections.whole()),
    attacks.PAGE: attacks.written,
}
"""What is written as a whole."""


def write_pages() -> None:
    for path, made in PAGES.items():
        path.write_text(made(), encoding="utf-8")
    for table in SHOWN:
        table.write()


if __name__ == "__main__":
    write_pages()
