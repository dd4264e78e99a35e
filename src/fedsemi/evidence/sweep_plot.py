"""Scores over the values of a setting, a line for each method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fedsemi.evidence.catalogue import Chart, Setting
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.stats import spread
from fedsemi.evidence.sweep import Point, point_label

_NOTE = (
    "Percent, mean over seeds; upright lines are one standard deviation. Values stand "
    "at equal distances."
)


def sweep_plots(chart: Chart, evidence: Evidence) -> list[dict[str, Any]]:
    """Draw scores over the setting with the most values; others part the plots."""
    points = [dict(setting.partition) for setting in chart.settings]
    taken = {
        key: list(dict.fromkeys(point[key] for point in points)) for key in points[0]
    }
    along = max(taken, key=lambda key: len(taken[key]))
    parts: dict[Point, dict[str, dict[Any, Setting]]] = {}
    for setting in chart.settings:
        rest = tuple(item for item in setting.partition if item[0] != along)
        methods = parts.setdefault(rest, {})
        methods.setdefault(setting.arm, {})[dict(setting.partition)[along]] = setting
    return [
        {
            "kind": "sweep",
            "note": f"{point_label(rest)}. {_NOTE}" if rest else _NOTE,
            "label": along,
            "names": [str(value) for value in taken[along]],
            "series": [
                {"name": arm, **_over(taken[along], settings, chart, evidence)}
                for arm, settings in methods.items()
            ],
        }
        for rest, methods in parts.items()
        if any(evidence.found(s) for each in methods.values() for s in each.values())
    ]


def _over(
    values: Sequence[Any],
    settings: Mapping[Any, Setting],
    chart: Chart,
    evidence: Evidence,
) -> dict[str, list[float | None]]:
    """Take mean and spread of a method at each value; None where it was not run."""
    ends: dict[str, list[float | None]] = {"values": [], "low": [], "high": []}
    for value in values:
        scores = list(evidence.scores(settings[value], chart.metric).values())
        found = spread(scores) if scores else None
        for name, sign in (("values", 0), ("low", -1), ("high", 1)):
            at = None if found is None else found.mean + sign * (found.sd or 0.0)
            ends[name].append(None if at is None else round(at, 2))
    return ends
