"""Write a benchmark into a results folder, and show it in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fedsemi.cards import CARDS
from fedsemi.evidence.benchmark import Benchmark
from fedsemi.evidence.benchmark_table import (
    as_csv,
    as_markdown,
    caption,
    cells_of,
    findings,
    head_of,
    heading,
    remarks,
)
from fedsemi.evidence.catalogue import Chart
from fedsemi.evidence.interval_plot import DOTS, with_seeds
from fedsemi.evidence.plots import plots_of
from fedsemi.evidence.rank_plot import rank_plot
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.standing import Standing, standing
from fedsemi.report.build import page
from fedsemi.storage import make_folder, write_whole
from fedsemi.text.screen import tell

_SCRIPTS = ("svg.js", "charts.js", "clients.js", "findings.js", "evidence.js")

_CAPTION = "Scores, ranks and cost"
_WHOLE = ("Acc", "B-Acc", "rank")
"""Columns that no narrow terminal may break."""


def write_benchmarks(
    folder: Path, made: Sequence[Benchmark], evidence: Evidence
) -> Path | None:
    """Write table, picture and page of what was run; return the last page."""
    make_folder(folder)
    written = None
    for each in made:
        found = standing(each, evidence)
        if not found.ran:
            continue
        picture = f"{each.name}.svg"
        text = as_markdown(found, evidence, picture)
        files = {
            f"{each.name}.md": f"# {heading(each)}\n\n{text}\n",
            f"{each.name}.csv": as_csv(found),
            f"{each.name}.html": benchmark_page(found, evidence),
        }
        if found.ranking.ranks:
            files[picture] = rank_plot(found.ranking)
        for name, content in files.items():
            write_whole(folder / name, content.encode())
        written = folder / f"{each.name}.html"
    return written


def benchmark_page(found: Standing, evidence: Evidence) -> str:
    """Make the page of a benchmark: table, ranks, differences and curves."""
    each, card = found.benchmark, CARDS[found.benchmark.card]
    rows = [cells_of(row, each.reference) for row in found.rows]
    title = f"fedsemi benchmark: {heading(each)}"
    said = findings(found)
    curves = Chart("curves", "Accuracy by round", each.settings)
    section = {
        "id": each.name,
        "name": heading(each).partition(":")[0],
        "title": card.title[:1].upper() + card.title[1:],
        "lead": said[:1],
        "caption": "",
        "panels": [],
        "tables": [{"head": head_of(each), "rows": rows, "caption": _CAPTION}],
        "plots": [
            *_ranks(found),
            *_differences(found),
            *plots_of(curves, evidence),
        ],
        "remarks": [*said[1:], caption(found, evidence), *remarks(found, evidence)],
        "folded": [],
    }
    view = {
        "title": title,
        "about": f"Profile {evidence.source.name}; records are in runs/.",
        "answers": [],
        "tables": [section],
        "figures": [],
        "missing": "",
    }
    return page(title, view, live=False, scripts=_SCRIPTS)


def _ranks(found: Standing) -> list[dict[str, Any]]:
    if not found.ranking.ranks:
        return []
    note = "The left-most is best; a red line joins methods that are not told apart."
    svg = rank_plot(found.ranking)
    return [{"kind": "ranks", "title": "Average rank", "note": note, "svg": svg}]


def _differences(found: Standing) -> list[dict[str, Any]]:
    rows = [
        {"name": row.title, "group": "accuracy", **with_seeds(row.against)}
        for row in found.rows
        if row.against is not None
    ]
    note = f"Lines are 95 % intervals of differences on the same seeds. {DOTS}."
    plot = {"kind": "intervals", "title": "Against the reference", "note": note}
    return [{**plot, "label": "points of accuracy", "rows": rows}] if rows else []


def show_benchmark(found: Standing, evidence: Evidence, console: Console) -> None:
    """Print the table, and what it decides."""
    table = Table(box=None, header_style="dim", padding=(0, 1))
    name, *others = head_of(found.benchmark, short_names=True)
    table.add_column(name, no_wrap=True)
    for other in others:
        table.add_column(other, justify="right", no_wrap=other in _WHOLE)
    for row in found.rows:
        cells = map(Text, cells_of(row, found.benchmark.reference, short_names=True))
        table.add_row(*cells, style="italic" if row.bound else None)
    console.print(Text(heading(found.benchmark), style="bold"))
    console.print(table)
    console.print(Text(caption(found, evidence), style="dim"))
    for sentence in findings(found):
        tell(console, sentence)
