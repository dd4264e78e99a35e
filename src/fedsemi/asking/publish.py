"""Write what the documentation says about asking from the records in results/ask.

`python -m fedsemi.asking.publish` (`make results`) fills the marked parts of
docs/what-to-label.md and draws its plots; a test does it again.
"""

from __future__ import annotations

from pathlib import Path

from fedsemi.asking.records import Record, read_records
from fedsemi.asking.tables import as_markdown, as_svg, scale, words, write_tables
from fedsemi.evidence.publish import fill
from fedsemi.storage import write_whole

FOLDER = "results/ask"
PAGE = "docs/what-to-label.md"
PLOTS = "docs/images"


def publish(root: Path) -> None:
    """Write what the records say into their folders and into the documentation."""
    found = {
        folder.name: read_records(folder)
        for folder in sorted((root / FOLDER).iterdir())
    }
    for name, records in found.items():
        write_tables(root / FOLDER / name, records)
        write_whole(root / PLOTS / f"ask-{name}.svg", as_svg(records).encode())
    page = root / PAGE
    parts = {f"ask-{name}": lambda r=r: _part(r) for name, r in found.items()}
    write_whole(page, fill(page.read_text("utf-8"), parts).encode())


def _part(records: list[Record]) -> str:
    return "\n\n".join([scale(records), as_markdown(records), words(records)])


if __name__ == "__main__":
    publish(Path())
