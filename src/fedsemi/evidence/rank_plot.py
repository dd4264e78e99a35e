"""The picture of average ranks: methods on an axis, lines over what is not told apart.

Drawn as SVG without a script, so that it stands in a page and in the documentation.
"""

from __future__ import annotations

from html import escape

from fedsemi.evidence.ranking import Ranking

_WIDTH, _LEFT, _RIGHT = 680, 190, 190
_ROW, _GROUP = 20, 9
_STYLE = (
    ".ranks{font:13px system-ui,sans-serif;fill:#222}"
    ".ranks line,.ranks path{stroke:#222;fill:none}"
    ".ranks .bar{stroke:#c0392b;stroke-width:4;stroke-linecap:round}"
    ".ranks .soft{fill:#555}"
    "@media(prefers-color-scheme:dark){.ranks,.ranks .soft{fill:#ddd}"
    ".ranks line,.ranks path{stroke:#ddd}.ranks .bar{stroke:#ff8a70}}"
)


def rank_plot(found: Ranking) -> str:
    """Draw average ranks from the best, left, to the worst; nothing if there are none.

    Names stand left and right by turns of halves, as is usual for such pictures.
    """
    if not found.ranks:
        return ""
    k, axis = len(found.names), 62
    groups = found.groups
    first = axis + 14 + _GROUP * len(groups)
    half = (k + 1) // 2
    height = first + _ROW * half + 8
    parts = [*_axis(k, axis), *_reach(found, k)]
    for i, (low, high) in enumerate(groups):
        y = axis + 10 + _GROUP * i
        ends = (_x(found.ranks[low], k) - 5, _x(found.ranks[high], k) + 5)
        parts.append(_line(ends[0], y, ends[1], y, "bar"))
    for i in range(k):
        parts += _method(found, i, k, axis, first, half)
    title = "; ".join(
        f"{name} {rank:.2f}"
        for name, rank in zip(found.names, found.ranks, strict=True)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ranks" role="img" '
        f'width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}">'
        f"<title>Average ranks: {escape(title)}</title><style>{_STYLE}</style>"
        f"{''.join(parts)}</svg>\n"
    )


def _x(rank: float, k: int) -> float:
    span = _WIDTH - _LEFT - _RIGHT
    return _LEFT + (rank - 1) / max(k - 1, 1) * span


def _axis(k: int, y: int) -> list[str]:
    parts = [_line(_x(1, k), y, _x(k, k), y)]
    for rank in range(1, k + 1):
        parts.append(_line(_x(rank, k), y - 6, _x(rank, k), y))
        parts.append(_text(_x(rank, k), y - 11, str(rank), "middle", "soft"))
    return parts


def _reach(found: Ranking, k: int) -> list[str]:
    """Draw the critical difference above the axis, as long as the axis at most."""
    reach = found.reach
    if reach is None:
        return [_text(_WIDTH / 2, 16, "one seed: nothing is tested", "middle", "soft")]
    said = f"critical difference {reach:.2f}, {found.seeds} seeds"
    if reach > k - 1:
        return [
            _text(_WIDTH / 2, 16, f"{said}: longer than the axis", "middle", "soft")
        ]
    end = _x(1 + reach, k)
    y = 24
    ends = [_line(x, y - 4, x, y + 4) for x in (_x(1, k), end)]
    label = _text((_x(1, k) + end) / 2, y - 9, said, "middle", "soft")
    return [_line(_x(1, k), y, end, y), *ends, label]


def _method(
    found: Ranking, i: int, k: int, axis: int, first: int, half: int
) -> list[str]:
    """Lead from a rank down and aside to its name."""
    x, left = _x(found.ranks[i], k), i < half
    y = first + _ROW * (i if left else k - 1 - i) + 8
    end = _LEFT - 12 if left else _WIDTH - _RIGHT + 12
    at = end - 5 if left else end + 5
    label = f"{found.names[i]}  {found.ranks[i]:.2f}"
    return [
        f'<path d="M{x:.1f} {axis}V{y}H{end}"/>',
        _text(at, y + 4, label, "end" if left else "start"),
    ]


def _line(x1: float, y1: float, x2: float, y2: float, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<line x1="{x1:.1f}" y1="{y1}" x2="{x2:.1f}" y2="{y2}"{named}/>'


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return (
        f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}"{named}>{escape(text)}</text>'
    )
