"""The points of a figure as CSV, to draw it again in a paper's own style."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from fedsemi.evidence.catalogue import Artifact
from fedsemi.evidence.plots import Plot, plots_of
from fedsemi.evidence.results import Evidence

_HEAD = (
    *("plot", "series", "x", "value", "low", "high", "low to high is", "seeds", "unit"),
)


def figure_csv(artifact: Artifact, evidence: Evidence) -> str:
    """Write a line for each point that the page draws."""
    plots = [plot for chart in artifact.charts for plot in plots_of(chart, evidence)]
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(_HEAD)
    for plot in plots:
        for point in _POINTS[plot["kind"]](plot):
            writer.writerow([plot["title"], *point])
    return target.getvalue()


def _of_lines(plot: Plot) -> Iterator[Sequence[Any]]:
    for line in plot["series"]:
        xs = line["xs"]
        ends = [line.get(key, [None] * len(xs)) for key in ("low", "high")]
        for x, *scores in zip(xs, line["values"], *ends, strict=True):
            shown = [None if each is None else round(100 * each, 2) for each in scores]
            kind = plot.get("ends") if "low" in line else None
            found = kind, line.get("seeds", 1), "percent"
            yield line["name"], x, *shown, *found


def _of_bars(plot: Plot) -> Iterator[Sequence[Any]]:
    for row in plot["rows"]:
        kind = plot["ends"] if "low" in row else None
        ends = row.get("low"), row.get("high"), kind
        yield row["name"], "", row["value"], *ends, row["seeds"], plot["unit"]


def _of_classes(plot: Plot) -> Iterator[Sequence[Any]]:
    for client, counts in zip(plot["rows"], plot["values"], strict=True):
        for name, count in zip(plot["columns"], counts, strict=True):
            yield f"client {client}", name, count, "", "", "", 1, "images"


_POINTS = {"lines": _of_lines, "bars": _of_bars, "heat": _of_classes}
