"""Plain SVG: cards, text and arrows, in colors for light and dark pages."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from html import escape

WIDTH = 700
"""Pictures are this wide, so that a page shows their text in its real size."""

_STYLE = """
svg { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif }
.page { fill: #ffffff } .step { stroke: #aab6c4 }
.ink { fill: #1c2733 } .soft { fill: #5b6b7c }
.mono { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace }
.plain { fill: #f3f5f8; stroke: #aab6c4 } .site { fill: #e3f1ec; stroke: #5fa58d }
.truth { fill: #fdf0da; stroke: #d39b3c } .message { fill: #e8eefc; stroke: #6d8ad6 }
.line { fill: none; stroke: #76869a; stroke-width: 1.5 } .head { fill: #76869a }
.strong { fill: none; stroke: #4566c0; stroke-width: 2.5 } .point { fill: #4566c0 }
@media (prefers-color-scheme: dark) {
.page { fill: #12181f } .step { stroke: #55677a }
.ink { fill: #e8eef5 } .soft { fill: #a3b2c2 }
.plain { fill: #1d2731; stroke: #55677a } .site { fill: #17332b; stroke: #4f9a80 }
.truth { fill: #3a2c12; stroke: #b98a3b } .message { fill: #1c2846; stroke: #6d8ad6 }
.line { stroke: #8596a9 } .head { fill: #8596a9 }
.strong { stroke: #8aa5f0 } .point { fill: #8aa5f0 }
}
"""

Point = tuple[float, float]


def picture(title: str, height: float, parts: Iterable[str]) -> str:
    """Put parts on a page of their own, with arrow heads and the colors."""
    height = math.ceil(height)
    heads = "".join(
        f'<marker id="{id}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="{size}" '
        f'markerHeight="{size}" markerUnits="userSpaceOnUse" orient="auto">'
        f'<path class="{id}" d="M0 0L8 4L0 8z"/></marker>'
        for id, size in (("head", 8), ("point", 11))
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{WIDTH}" '
            f'height="{height}" viewBox="0 0 {WIDTH} {height}">',
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            f"<defs>{heads}</defs>",
            f'<rect class="page" width="{WIDTH}" height="{height}" rx="8"/>',
            *parts,
            "</svg>\n",
        ]
    )


def text(x: float, y: float, words: str, kind: str = "ink", size: float = 12) -> str:
    """Write one line; `kind` names its classes, "bold" and "middle" among them."""
    weight = ' font-weight="600"' if "bold" in kind else ""
    anchor = ' text-anchor="middle"' if "middle" in kind else ""
    anchor = ' text-anchor="end"' if "end" in kind.split() else anchor
    return (
        f'<text class="{kind}" x="{x:g}" y="{y:g}" font-size="{size:g}"{weight}'
        f"{anchor}>{escape(words)}</text>"
    )


def wrapped(words: str, width: float, size: float) -> list[str]:
    """Break a text where a line of this width ends, by a letter's usual width."""
    return textwrap.wrap(words, max(8, int(width / (0.535 * size))))


def lines(
    x: float, y: float, many: Sequence[str], kind: str, size: float = 11
) -> list[str]:
    """Write several lines below each other."""
    return [
        text(x, y + i * (size + 3), line, kind, size) for i, line in enumerate(many)
    ]


def card(x: float, y: float, width: float, height: float, kind: str = "plain") -> str:
    """Draw a box with round corners."""
    return (
        f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" '
        f'height="{height:g}" rx="6"/>'
    )


def arrow(points: Sequence[Point], strong: bool = False) -> str:
    """Draw a line through points that ends in a head."""
    path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
    kind, head = ("strong", "point") if strong else ("line", "head")
    return f'<path class="{kind}" d="{path}" marker-end="url(#{head})"/>'
