"""Write tables, answers and the page into a results folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fedsemi.evidence.answers import answer_of
from fedsemi.evidence.catalogue import Artefact
from fedsemi.evidence.latex import as_latex
from fedsemi.evidence.page import evidence_page
from fedsemi.evidence.render import answer_markdown, as_csv, as_markdown
from fedsemi.evidence.results import Evidence
from fedsemi.storage import make_folder, write_whole


def write_all(
    folder: Path,
    artefacts: Sequence[Artefact],
    evidence: Evidence,
    page: Path | None = None,
) -> Path:
    """Write Markdown, CSV and LaTeX of what was run, and one page for all of it."""
    make_folder(folder)
    for artefact in artefacts:
        if not evidence.has_some(artefact):
            continue
        answer = answer_of(artefact.name, evidence)
        lead = "" if answer is None else answer_markdown(answer)
        texts = {"md": as_markdown(artefact, evidence, lead)}
        if artefact.cells:
            texts["csv"] = as_csv(artefact, evidence)
            texts["tex"] = as_latex(artefact, evidence)
        for ending, text in texts.items():
            write_whole(folder / f"{artefact.name}.{ending}", text.encode())
    page = page or folder / "index.html"
    write_whole(page, evidence_page(artefacts, evidence).encode())
    return page
