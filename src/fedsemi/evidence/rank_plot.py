"""The picture of average ranks: methods on an axis, lines over what is not told apart.

Drawn as SVG without a script, so that it stands in a page and in the documentation.
"""

from __future__ import annotations

from html import escape

from fedsemi.evidence.ranking import Ranking
from fedsemi.text.svg import line, text

_SPAN, _AXIS, _ROW, _GROUP = 340, 62, 20, 9
_LETTER = 7.4
"""Width of a letter, about; names have as much room as the longest needs."""
_INK = "svg{color:#222}@media(prefers-color-scheme:dark){svg{color:#ddd}}"
"""Where the picture stands alone; in a page it has the ink of the text."""


class _Frame:
    """Where things are: names left and right of an axis from rank 1 to k."""

    def __init__(self, found: Ranking) -> None:
        self.k = len(found.names)
        self.half = (self.k + 1) // 2
        self.side = 40 + _LETTER * (max(map(len, found.names)) + 5)
        self.width = _SPAN + 2 * self.side
        self.first = _AXIS + 14 + _GROUP * len(found.groups)
        self.height = self.first + _ROW * self.half + 8

    def x(self, rank: float) -> float:
        return self.side + (rank - 1) / max(self.k - 1, 1) * _SPAN


def rank_plot(found: Ranking) -> str:
    """Draw average ranks from the best, left, to the worst; nothing if there are none.

    The better half of the names stands left, the other right, as is usual.
    """
    if not found.ranks:
        return ""
    frame = _Frame(found)
    parts = [*_axis(frame), *_reach(found, frame)]
    for i, (low, high) in enumerate(found.groups):
        y = _AXIS + 10 + _GROUP * i
        ends = frame.x(found.ranks[low]) - 5, frame.x(found.ranks[high]) + 5
        parts.append(line(ends[0], y, ends[1], y, 'stroke="#d1462f" stroke-width="4"'))
    for i in range(frame.k):
        parts += _method(found, i, frame)
    both = zip(found.names, found.ranks, strict=True)
    title = "; ".join(f"{name} {rank:.2f}" for name, rank in both)
    size = f"{frame.width:.0f}", f"{frame.height:.0f}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{size[0]}" '
        f'height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}" font-size="13" '
        f'font-family="system-ui, sans-serif" fill="none" stroke="currentColor">'
        f"<title>Average ranks: {escape(title)}</title><style>{_INK}</style>"
        f"{''.join(parts)}</svg>\n"
    )


def _axis(frame: _Frame) -> list[str]:
    parts = [line(frame.x(1), _AXIS, frame.x(frame.k), _AXIS)]
    for rank in range(1, frame.k + 1):
        parts.append(line(frame.x(rank), _AXIS - 6, frame.x(rank), _AXIS))
        parts.append(_text(frame.x(rank), _AXIS - 11, str(rank), "middle"))
    return parts


def _reach(found: Ranking, frame: _Frame) -> list[str]:
    """Draw the critical difference above the axis, as long as the axis at most."""
    reach, middle = found.reach, frame.width / 2
    if reach is None:
        return [_text(middle, 16, "one seed: nothing is tested", "middle")]
    said = f"critical difference {reach:.2f}, {found.seeds} seeds"
    if reach > frame.k - 1:
        return [_text(middle, 16, f"{said}: longer than the axis", "middle")]
    start, end, y = frame.x(1), frame.x(1 + reach), 24
    ticks = [line(x, y - 4, x, y + 4) for x in (start, end)]
    label = _text((start + end) / 2, y - 9, said, "middle")
    return [line(start, y, end, y), *ticks, label]


def _method(found: Ranking, i: int, frame: _Frame) -> list[str]:
    """Lead from a rank down and aside to its name."""
    x, left = frame.x(found.ranks[i]), i < frame.half
    y = frame.first + _ROW * (i if left else frame.k - 1 - i) + 8
    end = frame.side - 12 if left else frame.width - frame.side + 12
    at = end - 5 if left else end + 5
    label = f"{found.names[i]}  {found.ranks[i]:.2f}"
    return [
        f'<path d="M{x:.1f} {_AXIS}V{y}H{end:.1f}" fill="none"/>',
        _text(at, y + 4, label, "end" if left else "start"),
    ]


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return text(x, y, words, anchor, 'fill="currentColor" stroke="none"')
