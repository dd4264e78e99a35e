"""A comparison in the terminal: its tables, and what they say in words."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fedsemi.evidence.captions import caption_of
from fedsemi.evidence.catalogue import Artifact
from fedsemi.evidence.helping import sentences
from fedsemi.evidence.layout import Entry, Grid, Panel, grid_of
from fedsemi.evidence.results import Evidence
from fedsemi.text.screen import tell


def show(artifact: Artifact, evidence: Evidence, console: Console) -> None:
    """Print the table of each data set or point of a sweep, then the findings."""
    grid = grid_of(artifact, evidence)
    for panel in grid.panels:
        for group, _ in panel.groups:
            console.print(_table(group, panel, grid))
    if grid.panels:
        console.print(Text(caption_of(grid, evidence), style="dim"))
    for sentence in sentences(artifact.settings, evidence):
        tell(console, sentence)


def _table(group: str, panel: Panel, grid: Grid) -> Table:
    columns = [column for column in panel.columns if column.group == group]
    table = Table(box=None, header_style="dim", padding=(0, 2))
    table.add_column(group, overflow="fold")
    for column in columns:
        table.add_column(column.metric, justify="right", no_wrap=True)
    for row in panel.rows:
        if any(column in row.entries for column in columns):
            style = "italic" if row.bound else None
            cells = [_cell(row.entries.get(column), grid) for column in columns]
            table.add_row(row.title, *cells, style=style)
    return table


def _cell(entry: Entry | None, grid: Grid) -> Text:
    """Write a mean with its spread; the best is bold, what ties with it has a mark."""
    if entry is None or entry.ours is None:
        return Text("–")
    ours = entry.ours
    text = Text(f"{ours.mean:.1f}", style="bold" if entry.mark == "best" else "")
    text.append("" if ours.sd is None else f" ± {ours.sd:.1f}", style="not bold")
    text.append("" if ours.n == grid.usual_seeds else f" (n = {ours.n})")
    text.append(" ≈" if entry.mark == "tied" else "  ")
    return text
