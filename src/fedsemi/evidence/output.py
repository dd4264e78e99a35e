"""Write tables and the page into a results folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fedsemi.evidence.catalogue import Artifact
from fedsemi.evidence.page import evidence_page
from fedsemi.evidence.render import as_csv, as_markdown
from fedsemi.evidence.results import Evidence
from fedsemi.storage import make_folder, write_whole


def write_all(folder: Path, artifacts: Sequence[Artifact], evidence: Evidence) -> Path:
    """Write Markdown and CSV for each artifact, and one page for all of them."""
    make_folder(folder)
    for artifact in artifacts:
        text = as_markdown(artifact, evidence)
        write_whole(folder / f"{artifact.name}.md", text.encode())
        if artifact.cells:
            lines = as_csv(artifact, evidence)
            write_whole(folder / f"{artifact.name}.csv", lines.encode())
    page = folder / "index.html"
    write_whole(page, evidence_page(artifacts, evidence).encode())
    return page
