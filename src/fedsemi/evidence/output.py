"""Write tables and the page into a results folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fedsemi.evidence.catalogue import Artefact
from fedsemi.evidence.page import evidence_page
from fedsemi.evidence.render import as_csv, as_markdown
from fedsemi.evidence.results import Evidence
from fedsemi.storage import make_folder, write_whole


def write_all(folder: Path, artefacts: Sequence[Artefact], evidence: Evidence) -> Path:
    """Write Markdown and CSV for each artefact, and one page for all of them."""
    make_folder(folder)
    for artefact in artefacts:
        text = as_markdown(artefact, evidence)
        write_whole(folder / f"{artefact.name}.md", text.encode())
        if artefact.cells:
            lines = as_csv(artefact, evidence)
            write_whole(folder / f"{artefact.name}.csv", lines.encode())
    page = folder / "index.html"
    write_whole(page, evidence_page(artefacts, evidence).encode())
    return page
