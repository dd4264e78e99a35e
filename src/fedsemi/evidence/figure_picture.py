"""A figure as one SVG to print: its plots side by side, on white, without a script.

The page draws the same plots to be walked along with a pointer; this is for a paper.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from fedsemi.evidence.catalogue import Artifact
from fedsemi.evidence.plots import Plot, plots_of
from fedsemi.evidence.results import Evidence
from fedsemi.text.svg import line, number, steps, text

_WIDTH, _GAP, _ABREAST = 470, 24, 2
_LEFT, _RIGHT, _TOP, _HEIGHT, _ROW = 46, 14, 34, 210, 18
"""Of a panel: around what is drawn, how high that is, and a row of names or bars."""
_LETTER, _NOTE_LETTERS, _NOTE_ROW = 6.2, 80, 15
"""Width of a letter; letters of a row of a note, and its height."""
_COLORS = (
    "#0062a3", "#c97a00", "#008f68", "#a83279", "#9c3a00", "#3494cf", "#23282e",
)  # fmt: skip
"""Those of the page, which no color-blind eye takes for each other."""
_DASHES = ("", "9 4", "3 6", "12 4 3 4")
_SOFT, _GRID = 'fill="#57606a"', 'stroke="#d5d9de"'
_ROOT = 'font-family="system-ui, DejaVu Sans, sans-serif" font-size="12" fill="#1b1f24"'


def figure_svg(artifact: Artifact, evidence: Evidence) -> str:
    """Draw all plots of a figure; nothing if nothing was run."""
    plots = [plot for chart in artifact.charts for plot in plots_of(chart, evidence)]
    return drawn(artifact.title, plots)


def drawn(title: str, plots: Sequence[Plot]) -> str:
    """Put plots side by side, row by row."""
    if not plots:
        return ""
    made = [_panel(plot) for plot in plots]
    rows = [made[i : i + _ABREAST] for i in range(0, len(made), _ABREAST)]
    width = max(len(row) for row in rows) * (_WIDTH + _GAP) + _GAP
    parts, y = [], float(_GAP)
    for row in rows:
        for i, (body, _) in enumerate(row):
            at = f"{_GAP + i * (_WIDTH + _GAP)} {number(y)}"
            parts.append(f'<g transform="translate({at})">{"".join(body)}</g>')
        y += max(height for _, height in row) + _GAP
    size = f'width="{width}" height="{number(y)}" viewBox="0 0 {width} {number(y)}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} {_ROOT}>',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width}" height="{number(y)}" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


Panel = tuple[list[str], float]
"""What is drawn, and how high it is."""


def _panel(plot: Plot) -> Panel:
    """Draw a plot below its title and above what explains it."""
    body, height = _PANELS[plot["kind"]](plot)
    head = text(0, 12, plot["title"], more='font-weight="bold"')
    rows = textwrap.wrap(plot["note"], _NOTE_LETTERS)
    small = f'font-size="11" {_SOFT}'
    notes = [
        text(0, height + _NOTE_ROW * i, row, more=small)
        for i, row in enumerate(rows, start=1)
    ]
    return [head, *body, *notes], height + _NOTE_ROW * len(rows)


class _Axes:
    """Where values lie in a panel of lines."""

    def __init__(self, xs: Sequence[float], values: Sequence[float]) -> None:
        self.ticks = steps(min(values), max(values))
        self.low, self.high = self.ticks[0], self.ticks[-1]
        self.start, self.end = min(xs), max(xs)

    def x(self, value: float) -> float:
        part = (value - self.start) / (self.end - self.start or 1)
        return _LEFT + part * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        part = (value - self.low) / (self.high - self.low)
        return _TOP + (1 - part) * _HEIGHT

    def drawn(self) -> list[str]:
        parts = []
        for value in self.ticks:
            y = self.y(value)
            parts.append(line(_LEFT, y, _WIDTH - _RIGHT, y, _GRID))
            parts.append(text(_LEFT - 6, y + 4, f"{value:g}", "end", _SOFT))
        floor = _TOP + _HEIGHT
        for value in steps(self.start, self.end):
            if self.start <= value <= self.end and value == int(value):
                x = self.x(value)
                parts.append(text(x, floor + 16, f"{value:g}", "middle", _SOFT))
        words = "percent, over rounds"
        return [*parts, text(_WIDTH - _RIGHT, _TOP - 8, words, "end", _SOFT)]


def _of_lines(plot: Plot) -> Panel:
    series = plot["series"]
    xs = [x for each in series for x in each["xs"]]
    keys = ("values", "low", "high")
    values = [
        100 * value
        for each in series
        for key in keys
        for value in each.get(key, ())
        if value is not None
    ]
    axes = _Axes(xs, values)
    parts = axes.drawn()
    looks = _looks(series)
    # All bands first, so that none lies over a line.
    for look, each in zip(looks, series, strict=True):
        parts += _band(each, axes, _color(look))
    for look, each in zip(looks, series, strict=True):
        parts += _line_of(each, axes, look)
    names, rows = _names(series)
    return [*parts, *names], _TOP + _HEIGHT + 26 + _ROW * rows


def _band(series: dict[str, Any], axes: _Axes, color: str) -> list[str]:
    if "low" not in series:
        return []
    xs = series["xs"]
    there = list(zip(xs, series["high"], strict=True))
    back = list(zip(xs, series["low"], strict=True))[::-1]
    ends = " ".join(_point(axes, x, value) for x, value in there + back)
    return [f'<polygon points="{ends}" fill="{color}" fill-opacity="0.14"/>']


def _line_of(series: dict[str, Any], axes: _Axes, i: int) -> list[str]:
    """Draw a line, with gaps where nothing is known and dots where nothing joins."""
    pieces: list[list[str]] = [[]]
    for x, value in zip(series["xs"], series["values"], strict=True):
        if value is None:
            pieces.append([])
        else:
            pieces[-1].append(_point(axes, x, value))
    look = f'{_stroke(i)} fill="none"'
    parts = [
        f'<polyline points="{" ".join(piece)}" {look}/>'
        for piece in pieces
        if len(piece) > 1
    ]
    alone = [piece[0].split(",") for piece in pieces if len(piece) == 1]
    dot = f'r="2.5" fill="{_color(i)}"'
    return [*parts, *(f'<circle cx="{x}" cy="{y}" {dot}/>' for x, y in alone)]


def _point(axes: _Axes, x: float, value: float) -> str:
    return f"{number(axes.x(x))},{number(axes.y(100 * value))}"


def _names(series: Sequence[dict[str, Any]]) -> tuple[list[str], int]:
    """Name the lines below the plot, in as many rows as it takes."""
    parts, x, y = [], float(_LEFT), float(_TOP + _HEIGHT + 36)
    rows = 1
    for look, each in zip(_looks(series), series, strict=True):
        name = _with_seeds(each)
        wide = 34 + _LETTER * len(name) + 12
        if x > _LEFT and x + wide > _WIDTH:
            x, y, rows = float(_LEFT), y + _ROW, rows + 1
        parts += [line(x, y - 4, x + 26, y - 4, _stroke(look)), text(x + 32, y, name)]
        x += wide
    return parts, rows


def _looks(series: Sequence[dict[str, Any]]) -> list[int]:
    """Return the place of each line in colors and dashes.

    As on the page, that of a client is its number.
    """
    numbers = [re.fullmatch(r"client (\d+)", each["name"]) for each in series]
    return [int(found[1]) if found else i for i, found in enumerate(numbers)]


def _with_seeds(each: dict[str, Any]) -> str:
    return f"{each['name']} (n = {each['seeds']})" if "seeds" in each else each["name"]


def _of_bars(plot: Plot) -> Panel:
    rows = plot["rows"]
    names = [_with_seeds(row) for row in rows]
    left = 8 + _LETTER * max(map(len, names))
    ends = [row.get(key, row["value"]) for row in rows for key in ("low", "high")]
    ticks = steps(min(0.0, *ends), max(0.0, *ends))
    span = _WIDTH - left - _RIGHT

    def x(value: float) -> float:
        return left + (value - ticks[0]) / (ticks[-1] - ticks[0]) * span

    floor = _TOP + _ROW * len(rows)
    parts = [line(x(tick), _TOP - 4, x(tick), floor, _GRID) for tick in ticks]
    parts += [text(x(tick), floor + 16, f"{tick:g}", "middle", _SOFT) for tick in ticks]
    for i, row in enumerate(rows):
        y = _TOP + _ROW * i
        start, end = sorted((x(0.0), x(row["value"])))
        box = f'x="{number(start)}" y="{y}" width="{number(end - start)}" height="12"'
        parts.append(f'<rect {box} fill="{_COLORS[0]}" fill-opacity="0.75"/>')
        if "low" in row:
            at = x(row["low"]), y + 6, x(row["high"]), y + 6
            parts.append(line(*at, 'stroke="#1b1f24" stroke-width="1.5"'))
        parts.append(text(left - 8, y + 10, names[i], "end"))
    parts.append(text(_WIDTH - _RIGHT, floor + 32, plot["unit"], "end", _SOFT))
    return parts, floor + 36


def _of_heat(plot: Plot) -> Panel:
    """Shade counts; the darkest is the largest."""
    rows, columns, values = plot["rows"], plot["columns"], plot["values"]
    most = max((value for each in values for value in each), default=0) or 1
    wide, left = (_WIDTH - 80 - _RIGHT) / len(columns), 80
    parts = []
    for i, (name, counts) in enumerate(zip(rows, values, strict=True)):
        y = _TOP + _ROW * i
        parts.append(text(left - 8, y + 13, f"client {name}", "end"))
        for j, count in enumerate(counts):
            shade = f'fill="{_COLORS[0]}" fill-opacity="{count / most:.2f}"'
            box = f'x="{number(left + wide * j)}" y="{y}" width="{number(wide)}"'
            parts.append(f'<rect {box} height="{_ROW}" {shade}/>')
            ink = 'font-size="9"' + (' fill="#ffffff"' if 2 * count > most else "")
            parts.append(
                text(left + wide * (j + 0.5), y + 12, str(count), "middle", ink)
            )
    floor = _TOP + _ROW * len(rows)
    room = int(wide / _LETTER)
    parts += [
        text(left + wide * (j + 0.5), floor + 15, _cut(name, room), "middle", _SOFT)
        for j, name in enumerate(columns)
    ]
    return parts, floor + 20


_PANELS: dict[str, Callable[[Plot], Panel]] = {
    "lines": _of_lines,
    "bars": _of_bars,
    "heat": _of_heat,
}


def _color(i: int) -> str:
    return _COLORS[i % len(_COLORS)]


def _stroke(i: int) -> str:
    """Tell lines apart by color, and by dashes once colors come again."""
    dash = _DASHES[i // len(_COLORS) % len(_DASHES)]
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'stroke="{_color(i)}" stroke-width="1.8"{dashed}'


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: max(most - 1, 1)]}…"
