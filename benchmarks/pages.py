"""Write all tables of the documentation that come from benchmarks, from their records.

`python -m benchmarks.pages` measures nothing; `make results` calls it.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import attacks, cards, defenses, demo, estimates, pretrained
from benchmarks.items import ITEMS
from benchmarks.sections import RESULTS, kept, results, shown

SHOWN = (
    *shown([*ITEMS]),
    *defenses.SHOWN,
    cards.SHOWN,
    demo.SHOWN,
    estimates.SHOWN,
    pretrained.SHOWN,
)


def pages() -> dict[Path, str]:
    """Return the pages that are written as a whole, each as a file."""
    return {
        RESULTS: results([kept(name) for name in ITEMS]),
        attacks.PAGE: attacks.written(),
    }


def write_pages() -> None:
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    for table in SHOWN:
        table.write()


if __name__ == "__main__":
    write_pages()
