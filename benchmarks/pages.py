"""Write all tables of the documentation that come from benchmarks, from their records.

`python -m benchmarks.pages` measures nothing; `make results` calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks import attacks, cards, defenses, demo, estimates, pretrained, sections
from benchmarks.common import ROOT
from benchmarks.numbers import Shown

PEERS = ROOT / "benchmarks" / "peers.md"


def _peers() -> str:
    """Return the tables of what `make bench-peers` wrote."""
    lines = PEERS.read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if line.startswith("|"))


SHOWN = (
    Shown(ROOT / "docs" / "performance.md", "peers", _peers),
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
