"""Write tables, answers and the page into a results folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fedsemi.evidence.answers import answer_of
from fedsemi.evidence.catalogue import Artifact
from fedsemi.evidence.figure_picture import figure_svg
from fedsemi.evidence.figure_table import figure_csv
from fedsemi.evidence.helping import sentences
from fedsemi.evidence.latex import answer_latex, as_latex
from fedsemi.evidence.page import evidence_page
from fedsemi.evidence.render import answer_markdown, as_csv, as_markdown
from fedsemi.evidence.results import Evidence
from fedsemi.storage import make_folder, write_whole


def write_all(
    folder: Path,
    artifacts: Sequence[Artifact],
    evidence: Evidence,
    page: Path | None = None,
) -> Path:
    """Write Markdown, CSV and LaTeX of what was run, and one page for all of it.

    A figure is a picture (SVG) too, and its CSV has its points; the LaTeX of a question
    has its differences.
    """
    make_folder(folder)
    for artifact in artifacts:
        if not evidence.has_some(artifact):
            continue
        answer = answer_of(artifact.name, evidence)
        lead = "" if answer is None else answer_markdown(answer)
        if artifact.own:
            lead = "\n\n".join(sentences(artifact.settings, evidence))
        texts = {"md": as_markdown(artifact, evidence, lead)}
        if artifact.cells:
            texts["csv"] = as_csv(artifact, evidence)
            texts["tex"] = as_latex(artifact, evidence)
        elif artifact.charts and not artifact.own:
            texts["csv"] = figure_csv(artifact, evidence)
            texts["svg"] = figure_svg(artifact, evidence)
        if answer is not None:
            texts["tex"] += answer_latex(answer)
        for ending, text in texts.items():
            write_whole(folder / f"{artifact.name}.{ending}", text.encode())
    page = page or folder / "index.html"
    write_whole(page, evidence_page(artifacts, evidence).encode())
    return page
