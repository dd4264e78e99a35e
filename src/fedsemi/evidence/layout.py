"""Tables laid out as in the paper: methods as rows, data sets and metrics as columns.

What is a row, what a column, what the best and what ties with it is decided here; the
renderers only write it down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fedsemi.evidence.arms import ARMS, WARM_UPS
from fedsemi.evidence.catalogue import Artifact, Cell, Setting
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.shipped import TITLES
from fedsemi.evidence.stats import Spread, paired, spread

SHORT = {
    "accuracy": "Acc",
    "balanced_accuracy": "B-Acc",
    "auc": "AUC",
    "precision": "Pre",
    "recall": "Rec",
}
BOUNDS = ("upper", "lower", "labels-on", "labels-on-5", "cbafed-lower", *WARM_UPS)
"""Arms that are no methods: they are never the best."""
_WIDEST, _COLUMN = 100, 12
"""Characters of a panel and of a column; the paper's widest table has eight columns."""
_TWO = 2
"""Seeds that a test needs, and rows that a comparison does."""


@dataclass(frozen=True)
class Column:
    """A data set under a condition, and a metric."""

    group: str
    metric: str


@dataclass(frozen=True)
class Entry:
    """What stands in a row and column."""

    cell: Cell
    ours: Spread | None
    mark: str = ""
    """Whether it is the "best" method, or "tied" with it by the paired test."""

    @property
    def theirs(self) -> str:
        """Write the paper's number, and the one that its authors published."""
        both = (self.cell.paper, self.cell.published)
        return "; ".join(f"{each:.2f}" for each in both if each is not None)


@dataclass(frozen=True)
class Row:
    """A method, or a bound."""

    title: str
    bound: bool
    entries: Mapping[Column, Entry]


@dataclass(frozen=True)
class Panel:
    """Rows over the columns that fit beside each other."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Name what columns have in common, and over how many of them."""
        found: list[tuple[str, int]] = []
        for column in self.columns:
            if found and found[-1][0] == column.group:
                found[-1] = (column.group, found[-1][1] + 1)
            else:
                found.append((column.group, 1))
        return found


@dataclass(frozen=True)
class Grid:
    """A table; columns of which nothing was run are only named."""

    panels: tuple[Panel, ...]
    missing: tuple[str, ...]

    @property
    def compares(self) -> bool:
        """Whether there is a column with two rows to compare."""
        ran = [
            sum(row.entries[c].ours is not None for row in p.rows if c in row.entries)
            for p in self.panels
            for c in p.columns
        ]
        return max(ran, default=0) >= _TWO

    @property
    def entries(self) -> list[Entry]:
        """List all entries that are shown."""
        return [
            entry
            for panel in self.panels
            for row in panel.rows
            for entry in row.entries.values()
        ]

    @property
    def uneven(self) -> tuple[int, int] | None:
        """The fewest and the most seeds in columns whose rows have not all the same."""
        columns = [
            [row.entries[c].ours for row in panel.rows if c in row.entries]
            for panel in self.panels
            for c in panel.columns
        ]
        counts = [{ours.n for ours in some if ours} for some in columns]
        every = [n for some in counts if len(some) > 1 for n in some]
        return (min(every), max(every)) if every else None

    @property
    def usual_seeds(self) -> int:
        """The number of seeds that most entries have, if they have more than one."""
        counts = [entry.ours.n for entry in self.entries if entry.ours]
        several = sorted({count for count in counts if count > 1}) or counts
        return max(several, key=counts.count, default=0)


def titled(dataset: str) -> str:
    """Write a data set as its authors do."""
    return TITLES.get(dataset, dataset)


def named(setting: Setting) -> str:
    """Name a method, and what is other than usual in who owns what."""
    method = ARMS[setting.arm].title if setting.arm in ARMS else setting.arm
    return ", ".join([method, *setting.conditions])


def measured_by(cell: Cell) -> str:
    """Name what a cell is measured by, shortly."""
    return SHORT[cell.metric] + (", running mean" if cell.averaged else "")


def grid_of(artifact: Artifact, evidence: Evidence) -> Grid:
    """Lay a table out."""
    by_column: dict[Column, list[Cell]] = {}
    for cell in artifact.cells:
        column = Column(_group(cell), measured_by(cell))
        by_column.setdefault(column, []).append(cell)
    entries = {
        name: _entries(artifact, some, evidence) for name, some in by_column.items()
    }
    shown = [c for c, some in entries.items() if any(each.ours for each in some)]
    groups = dict.fromkeys(column.group for column in by_column)
    ran = {column.group for column in shown}
    panels = tuple(_panel(some, entries) for some in _panels(shown))
    return Grid(panels, tuple(group for group in groups if group not in ran))


def _group(cell: Cell) -> str:
    parts = [titled(cell.setting.dataset), cell.condition]
    return ", ".join(part for part in parts if part)


def _panels(columns: Sequence[Column]) -> list[list[Column]]:
    """Break a wide table between groups, as the paper does."""
    panels: list[list[Column]] = []
    room = 0
    for group in dict.fromkeys(column.group for column in columns):
        some = [column for column in columns if column.group == group]
        width = max(len(group), sum(max(_COLUMN, len(c.metric)) for c in some))
        if width > room:
            panels.append([])
            room = _WIDEST
        panels[-1] += some
        room -= width
    return panels


def _panel(
    columns: Sequence[Column], entries: Mapping[Column, Sequence[Entry]]
) -> Panel:
    rows: dict[str, dict[Column, Entry]] = {}
    for column in columns:
        for entry in entries[column]:
            rows.setdefault(entry.cell.row, {})[column] = entry
    made = [Row(title, _is_bound(each.values()), each) for title, each in rows.items()]
    return Panel(tuple(columns), tuple(made))


def _is_bound(entries: Iterable[Entry]) -> bool:
    return all(_no_method(entry.cell) for entry in entries)


def _no_method(cell: Cell) -> bool:
    """Tell bounds, and runs without one of the sites, from methods."""
    return cell.setting.arm in BOUNDS or cell.setting.without is not None


def _entries(
    artifact: Artifact, cells: Sequence[Cell], evidence: Evidence
) -> list[Entry]:
    """Find the scores of a column, the best method and what ties with it."""
    scores = [evidence.tabled(artifact, c.setting, c.score, c.source) for c in cells]
    methods = [
        i
        for i, cell in enumerate(cells)
        if not _no_method(cell) and len(scores[i]) >= _TWO
    ]
    best = _best([scores[i] for i in methods])
    marks = [""] * len(cells)
    if best is not None:
        first = scores[methods[best]]
        for i in methods:
            marks[i] = "tied" if _tied(first, scores[i]) else ""
        marks[methods[best]] = "best"
    return [
        Entry(cell, spread(list(found.values())) if found else None, mark)
        for cell, found, mark in zip(cells, scores, marks, strict=True)
    ]


def _best(scores: Sequence[Mapping[int, float]]) -> int | None:
    """Return the place of the best of two or more, on the seeds that all have."""
    if len(scores) < _TWO:
        return None
    shared = set.intersection(*(set(each) for each in scores))
    if len(shared) < _TWO:
        return None
    sums = [sum(each[seed] for seed in shared) for each in scores]
    return sums.index(max(sums))


def _tied(a: Mapping[int, float], b: Mapping[int, float]) -> bool:
    both = sorted(a.keys() & b.keys())
    test = paired([a[seed] for seed in both], [b[seed] for seed in both])
    return test.low is None or test.high is None or test.low <= 0 <= test.high
