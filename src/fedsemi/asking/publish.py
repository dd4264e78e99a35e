"""Write what the documentation says about asking from the records in results/ask.

`python -m fedsemi.asking.publish` (`make results`) fills the marked parts of
docs/what-to-label.md and draws its plots; a test does it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from fedsemi.asking.records import Record, read_records
from fedsemi.asking.tables import (
    as_markdown,
    as_svg,
    lines_of,
    scale,
    words,
    write_tables,
)
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
    parts: dict[str, Callable[[], str]] = {
        f"ask-{name}": partial(_part, each) for name, each in found.items()
    }
    parts["ask-verdict"] = partial(verdict, found)
    write_whole(page, fill(page.read_text("utf-8"), parts).encode())


def verdict(found: Mapping[str, Sequence[Record]]) -> str:
    """Say in a sentence whether anything beats asking at random."""
    ahead = [
        f"{line.rule} on {name} at {line.budget} labels"
        for name, records in found.items()
        for line in lines_of(records)
        if line.ahead is not None and line.ahead.verdict == "ahead"
    ]
    if not ahead:
        return f"**No rule beat random** on {' or '.join(found)} at any budget."
    return f"**What beat random:** {'; '.join(ahead)}."


def _part(records: Sequence[Record]) -> str:
    return "\n\n".join([scale(records), as_markdown(records), words(records)])


if __name__ == "__main__":
    publish(Path())
