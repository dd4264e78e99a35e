"""Whether accuracy rises or falls, as far as its own ups and downs let one say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

_WINDOW = 5
"""Tests on either side of the comparison, if there are as many."""
_NOISE = 2.0
"""Standard errors that a change must exceed to be called one."""
_SPAN = 0.1
"""A sparkline is at least so high: ten points, so that noise looks like noise."""
_BARS = "▁▂▃▄▅▆▇█"


def arrow(tests: Sequence[float]) -> str:
    """Compare the last tests with those before; "→" unless they differ beyond noise.

    >>> arrow([0.5, 0.5, 0.6, 0.6]), arrow([0.5, 0.7, 0.5, 0.7]), arrow([0.5, 0.6])
    ('↑', '→', '')
    """
    size = min(_WINDOW, len(tests) // 2)
    if size < 2:
        return ""
    now, before = tests[-size:], tests[-2 * size : -size]
    change = _mean(now) - _mean(before)
    error = math.sqrt((_variance(now) + _variance(before)) / size)
    if abs(change) <= _NOISE * error:
        return "→"
    return "↑" if change > 0 else "↓"


def sparkline(tests: Sequence[float], width: int = 12) -> str:
    """Draw all tests in a few characters, each the mean of its part of them.

    >>> sparkline([0.0, 0.5, 1.0], 3), sparkline([0.5, 0.51, 0.5], 3)
    ('▁▅█', '▁▂▁')
    """
    count = min(width, len(tests))
    edges = [round(i * len(tests) / count) for i in range(count + 1)] if count else []
    values = [_mean(tests[a:b]) for a, b in pairwise(edges)]
    if not values:
        return ""
    low = min(values)
    span = max(max(values) - low, _SPAN)
    top = len(_BARS) - 1
    return "".join(_BARS[math.floor((v - low) / span * top + 0.5)] for v in values)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    mean = _mean(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)
