"""A plot as plain SVG that a page shows in light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from fedsemi.text.svg import text

_WIDTH, _HEIGHT = 640, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 150, 40, 46
_STYLE = """
svg { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 12px }
.page { fill: #ffffff } .ink { fill: #1b1f24 } .soft { fill: #57606a }
.axis { stroke: #d5d9de } .c0 { --c: #0062a3 } .c1 { --c: #c97a00 }
.c2 { --c: #008f68 } .c3 { --c: #57606a }
.line { fill: none; stroke: var(--c); stroke-width: 2 } .dot { fill: var(--c) }
@media (prefers-color-scheme: dark) {
.page { fill: #12161b } .ink { fill: #e7ebf0 } .soft { fill: #a2adb9 }
.axis { stroke: #36404a } .c0 { --c: #4a9be0 } .c1 { --c: #f5b43c }
.c2 { --c: #1fb58a } .c3 { --c: #a2adb9 }
}
"""
_DASHES = ("", "7 4", "2 3", "10 4 2 4")

Mark = tuple[int, float, float | None, float | None]
"""Where it stands, its value, and the ends of its interval if it has one."""


@dataclass(frozen=True)
class Series:
    """A line with its name."""

    name: str
    marks: tuple[Mark, ...]


def plot(title: str, series: Sequence[Series]) -> str:
    """Draw percent over a number; lines are told apart by color and by dashes."""
    scene = _Scene(series)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_WIDTH}" '
        f'height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{_WIDTH}" height="{_HEIGHT}" rx="8"/>',
        _text(_LEFT, 22, title, "start", "ink"),
        *scene.axes(),
    ]
    for number, each in enumerate(series):
        parts += scene.drawn(each, number)
    return "\n".join([*parts, "</svg>\n"])


class _Scene:
    """Where values lie on the page."""

    def __init__(self, series: Sequence[Series]) -> None:
        marks = [mark for each in series for mark in each.marks]
        ends = [v for mark in marks for v in mark[1:] if v is not None]
        self._places = sorted({mark[0] for mark in marks})
        # Whole fives, cut off where percents end.
        self._low = max(0, 5 * int(min(ends) // 5))
        self._high = min(100, 5 * int(-(-max(ends) // 5)))
        self._count = len(series)

    def x(self, place: float) -> float:
        span = max(self._places) - min(self._places) or 1
        part = (place - min(self._places)) / span
        return round(_LEFT + 14 + part * (_WIDTH - _LEFT - _RIGHT - 28), 1)

    def y(self, value: float) -> float:
        inside = min(max(value, self._low), self._high)
        part = (inside - self._low) / (self._high - self._low or 1)
        return round(_HEIGHT - _BOTTOM - part * (_HEIGHT - _TOP - _BOTTOM), 1)

    def axes(self) -> list[str]:
        step = 5 if self._high - self._low <= 40 else 10
        end, floor = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
        parts = []
        for value in range(self._low, self._high + 1, step):
            y = self.y(value)
            parts.append(
                f'<line class="axis" x1="{_LEFT}" x2="{end}" y1="{y}" y2="{y}"/>'
            )
            parts.append(_text(_LEFT - 8, y + 4, f"{value} %", "end"))
        parts += [_text(self.x(p), floor + 18, str(p), "middle") for p in self._places]
        middle = (_LEFT + end) / 2
        return [*parts, _text(middle, floor + 36, "labels asked for", "middle")]

    def drawn(self, series: Series, number: int) -> list[str]:
        """Draw a line, beside the others where they share a place."""
        shift = 4 * (number - (self._count - 1) / 2)
        points = [(self.x(p) + shift, v, low, high) for p, v, low, high in series.marks]
        path = " ".join(f"{x:g},{self.y(value):g}" for x, value, _, _ in points)
        dash = _DASHES[number % len(_DASHES)]
        parts = [f'<g class="c{number % 4}">']
        parts.append(
            f'<polyline class="line" stroke-dasharray="{dash}" points="{path}"/>'
        )
        for x, value, low, high in points:
            if low is not None and high is not None:
                ends = f'y1="{self.y(low):g}" y2="{self.y(high):g}"'
                parts.append(f'<line class="line" x1="{x:g}" x2="{x:g}" {ends}/>')
            parts.append(
                f'<circle class="dot" cx="{x:g}" cy="{self.y(value):g}" r="3.5"/>'
            )
        x, y = _WIDTH - _RIGHT + 14, _TOP + 14 + 22 * number
        sample = f'x1="{x}" x2="{x + 28}" y1="{y}" y2="{y}" stroke-dasharray="{dash}"'
        parts.append(f'<line class="line" {sample}/>')
        return [*parts, _text(x + 36, y + 4, series.name, "start", "ink"), "</g>"]


def _text(x: float, y: float, words: str, anchor: str, kind: str = "soft") -> str:
    return text(x, y, words, anchor, f'class="{kind}"')
