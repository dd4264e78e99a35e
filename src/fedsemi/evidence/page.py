"""One self-contained HTML page with all tables and plots of a results folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from fedsemi.contributions import by_diversity
from fedsemi.evidence.catalogue import Artifact
from fedsemi.evidence.notes import NOTES
from fedsemi.evidence.plots import plots_of
from fedsemi.evidence.render import (
    HEAD,
    TEST_HEAD,
    about,
    guarding,
    name_of,
    notes_of,
    paired_rows,
    table_rows,
)
from fedsemi.evidence.results import Evidence
from fedsemi.messages import DIVERSITY, Update
from fedsemi.report.build import page

_SCRIPTS = ("svg.js", "charts.js", "evidence.js")
_SIMILARITY = ((0.2, 0.4, 1.0), (0.4, 0.4, 0.5), (0.3, 1.0, 1.0))
"""Three clients, three classes: how like the anchor's the features are."""


def evidence_page(artifacts: Sequence[Artifact], evidence: Evidence) -> str:
    """Make the page."""
    title = f"fedsemi: {evidence.source.name}"
    sections = [_section(artifact, evidence) for artifact in artifacts]
    view = {"title": title, "about": about(evidence, artifacts), "sections": sections}
    return page(title, view, live=False, scripts=_SCRIPTS)


def _section(artifact: Artifact, evidence: Evidence) -> dict[str, Any]:
    tables = []
    lines = evidence.lines(artifact)
    if any(line.ours for line in lines):
        rows = table_rows(evidence, lines)
        caption = f"Paper and ours. {guarding(evidence, [artifact])}"
        tables.append({"head": HEAD, "rows": rows, "caption": caption})
    tests = paired_rows(evidence.comparisons(artifact))
    if tests:
        caption = "Paired tests over seeds"
        tables.append({"head": TEST_HEAD, "rows": tests, "caption": caption})
    if artifact.name == "fig2":
        tables.append(worked_example())
    plots = [plot for chart in artifact.charts for plot in plots_of(chart, evidence)]
    return {
        "name": name_of(artifact),
        "title": artifact.title,
        "tables": tables,
        "plots": plots,
        "missing": "" if tables or plots else _not_run(artifact, evidence),
        "notes": [f"{name}: {NOTES[name]}" for name in notes_of(artifact)],
    }


def _not_run(artifact: Artifact, evidence: Evidence) -> str:
    return (
        f"Not run: fedsemi reproduce {artifact.name} --profile {evidence.source.name}"
    )


def worked_example() -> dict[str, Any]:
    """Weigh three clients by both rules, with the code that weighs real ones."""
    updates = [
        Update(
            client=client,
            round=0,
            weights={},
            num_labeled=0,
            num_unlabeled=1,
            num_pseudo=1,
            statistics={DIVERSITY: 1 - torch.tensor(row, dtype=torch.float64)},
        )
        for client, row in enumerate(_SIMILARITY, start=1)
    ]
    shares = [
        by_diversity(updates, 0.0, rule).tolist() for rule in ("paper", "released")
    ]
    head = ("client", "similarity to the anchor by class", "paper", "released")
    rows = [
        (f"client {i + 1}", str(list(row)), *(f"{each[i]:.4f}" for each in shares))
        for i, row in enumerate(_SIMILARITY)
    ]
    return {"head": head, "rows": rows, "caption": "Share of each unlabeled client"}
