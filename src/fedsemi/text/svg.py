"""Parts of pictures as SVG: text and lines at a place, and steps of an axis."""

from __future__ import annotations

import math
from html import escape


def text(x: float, y: float, words: str, anchor: str = "start", more: str = "") -> str:
    """Write words at a place; `more` are further attributes.

    >>> text(4, 7.25, "a < b", "end", 'class="soft"')
    '<text x="4" y="7.2" text-anchor="end" class="soft">a &lt; b</text>'
    """
    place = f'x="{number(x)}" y="{number(y)}" text-anchor="{anchor}"'
    return f"<text {_joined(place, more)}>{escape(words)}</text>"


def line(x1: float, y1: float, x2: float, y2: float, more: str = "") -> str:
    """Draw from one place to another.

    >>> line(0, 1, 10, 1)
    '<line x1="0" y1="1" x2="10" y2="1"/>'
    """
    ends = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
    return f"<line {_joined(ends, more)}/>"


def number(value: float) -> str:
    """Write a coordinate to a tenth, without a zero behind it.

    >>> number(3.0), number(2.57)
    ('3', '2.6')
    """
    return f"{value:.1f}".removesuffix(".0")


def steps(low: float, high: float, most: int = 6) -> list[float]:
    """Return the round values of an axis that lie around what there is.

    >>> steps(78.2, 84.9)
    [78.0, 80.0, 82.0, 84.0, 86.0]
    >>> steps(3, 3)
    [3.0, 3.2]
    """
    span = (high - low) or 1.0
    unit = 10.0 ** math.floor(math.log10(span / most))
    step = next(unit * each for each in (1, 2, 5, 10) if span / (unit * each) <= most)
    first, last = math.floor(low / step), math.ceil(high / step)
    last = max(last, first + 1)
    return [round(i * step, 6) for i in range(first, last + 1)]


def _joined(*attributes: str) -> str:
    return " ".join(each for each in attributes if each)
