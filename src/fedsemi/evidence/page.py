"""One self-contained HTML page: questions and answers, then tables, then figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch

from fedsemi.contributions import by_diversity
from fedsemi.evidence.answer import Answer
from fedsemi.evidence.answers import answer_of
from fedsemi.evidence.beside_paper import HEAD, beside
from fedsemi.evidence.captions import about, caption_of, remarks
from fedsemi.evidence.catalogue import Artifact
from fedsemi.evidence.helping import sentences
from fedsemi.evidence.layout import Entry, Grid, Panel, grid_of
from fedsemi.evidence.overview import NOTE, corrected, overview
from fedsemi.evidence.plots import plots_of
from fedsemi.evidence.render import TEST_HEAD, line_table, name_of, paired_rows
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.words import WORDS
from fedsemi.messages import DIVERSITY, Update
from fedsemi.report.build import page

_SCRIPTS = ("svg.js", "charts.js", "clients.js", "findings.js", "evidence.js")
_SIMILARITY = ((0.2, 0.4, 1.0), (0.4, 0.4, 0.5), (0.3, 1.0, 1.0))
"""Three clients, three classes: how like the anchor's the features are."""
_EXAMPLE = "fig2"
_LONG, _AT_ONCE = 500, 2
"""Characters beyond which a text is long; the sentences of it that are seen at once."""
_SHOWN = {"panels", "tables", "plots"}
"""What a section must have one of."""

View = dict[str, Any]


def evidence_page(artifacts: Sequence[Artifact], evidence: Evidence) -> str:
    """Make the page."""
    title = f"fedsemi: what was measured, profile {evidence.source.name}"
    found = {each.name: answer_of(each.name, evidence) for each in artifacts}
    shown = [each for each in artifacts if found[each.name] is None]
    ran = [each for each in shown if evidence.has_some(each)]
    sections = [_section(artifact, evidence) for artifact in ran]
    sections = [each for each in sections if _SHOWN & {k for k, v in each.items() if v}]
    there = {each["name"] for each in sections}
    missing = [name_of(each) for each in shown if name_of(each) not in there]
    answers = [each for each in found.values() if each is not None]
    lines = overview(answers)
    view = {
        "title": title,
        "beside_paper": _beside_paper(artifacts, evidence),
        "overview": [
            {"name": line.name, "question": line.question, "answer": line.answer}
            for line in lines
        ],
        "overview_note": f"{NOTE} {corrected(lines)}",
        "words": list(WORDS.items()),
        "about": about(evidence, artifacts).replace("`", ""),
        "answers": [
            _answer(each, grid_of(artifact, evidence), evidence)
            for artifact in artifacts
            if (each := found[artifact.name]) is not None
        ],
        "tables": [each for each in sections if each["panels"]],
        "figures": [each for each in sections if not each["panels"]],
        "missing": _not_run(missing, evidence),
    }
    return page(title, view, live=False, scripts=_SCRIPTS)


def _beside_paper(artifacts: Sequence[Artifact], evidence: Evidence) -> View:
    """Set the leads of the paper's tables on this page beside ours, if any was run."""
    found = beside(evidence, artifacts)
    if not found.sentence:
        return {}
    table = {"head": HEAD, "rows": found.rows, "caption": "SemiAnAgg less its rivals"}
    return {"sentence": found.sentence, "table": table, "note": found.note}


def _answer(answer: Answer, grid: Grid, evidence: Evidence) -> View:
    text, more = _parted(answer)
    return {
        "id": answer.name,
        "name": name_of(answer),
        "question": answer.question,
        "finding": answer.finding,
        "text": text,
        "more": more,
        "head": answer.head,
        "rows": answer.rows,
        "caption": caption_of(grid, evidence),
        "note": answer.note,
        "plots": answer.plots,
        "panels": [_panel(panel, grid) for panel in grid.panels],
    }


def _parted(answer: Answer) -> tuple[str, str]:
    """Split what is told in words: what is seen at once, and what is asked for.

    A long text would hide the plot and the table below it.
    """
    text = " ".join(answer.text)
    if not answer.rows or len(text) <= _LONG:
        return text, ""
    sentences = re.split(r"(?<=[.]) (?=[A-Z])", text)
    return " ".join(sentences[:_AT_ONCE]), " ".join(sentences[_AT_ONCE:])


def _section(artifact: Artifact, evidence: Evidence) -> View:
    grid = grid_of(artifact, evidence)
    plots = [plot for chart in artifact.charts for plot in plots_of(chart, evidence)]
    tables = [worked_example()] if artifact.name == _EXAMPLE else []
    return {
        "id": artifact.name,
        "name": name_of(artifact),
        "title": artifact.title,
        "lead": sentences(artifact.settings, evidence) if artifact.own else [],
        "caption": caption_of(grid, evidence),
        "panels": [_panel(p, grid) for p in grid.panels] if grid.compares else [],
        "tables": tables,
        "plots": plots,
        "remarks": remarks(artifact, evidence),
        "folded": list(_folded(artifact, evidence)) if grid.panels else [],
    }


def _folded(artifact: Artifact, evidence: Evidence) -> list[View]:
    """List what a reader may ask for next: paired tests, and each number alone."""
    found = []
    if tests := paired_rows(evidence.comparisons(artifact)):
        caption = "Paired tests over seeds"
        found.append({"head": TEST_HEAD, "rows": tests, "caption": caption})
    head, rows = line_table(artifact, evidence)
    caption = "Each number with the gap closed and the verdict"
    return [*found, {"head": head, "rows": rows, "caption": caption}]


def _panel(panel: Panel, grid: Grid) -> View:
    rows = [
        {
            "title": row.title,
            "bound": row.bound,
            "cells": [_entry(row.entries.get(c), grid) for c in panel.columns],
        }
        for row in panel.rows
    ]
    metrics = [column.metric for column in panel.columns]
    return {"groups": panel.groups, "metrics": metrics, "rows": rows}


def _entry(entry: Entry | None, grid: Grid) -> View:
    if entry is None:
        return {}
    ours = entry.ours
    view: View = {"mark": entry.mark, "paper": entry.theirs}
    if ours is not None:
        view["value"] = f"{ours.mean:.1f}"
        view["sd"] = "" if ours.sd is None else f"{ours.sd:.1f}"
        view["seeds"] = "" if ours.n == grid.usual_seeds else str(ours.n)
    return view


def _not_run(names: Sequence[str], evidence: Evidence) -> str:
    if not names:
        return ""
    return (
        f"Not run in the profile {evidence.source.name}, or too little of it to show: "
        f"{', '.join(names)}."
    )


def worked_example() -> View:
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
