"""Two runs side by side: settings, results, and where they part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fedsemi.report.run import Run
from fedsemi.report.settings import differing

_SCORES = ("accuracy", "balanced_accuracy", "auc")
_SHOWN = 10


def differences(a: Run, b: Run) -> RenderableType:
    """Show in what two runs differ."""
    parts: list[RenderableType] = [_settings(a, b), Text(), _results(a, b), Text()]
    return Group(*parts, first_difference(a, b), _rounds(a, b))


def first_difference(a: Run, b: Run) -> str:
    """Say in which round two runs part, comparing everything but the time."""
    pairs = list(zip(a.records, b.records, strict=False))
    for left, right in pairs:
        if _timeless(left) != _timeless(right):
            names = [k for k in left if k != "seconds" and left[k] != right.get(k)]
            return (
                f"They part in round {left['round']} of stage {left['stage'] + 1}: "
                f"{', '.join(names)}."
            )
    if len(a.records) == len(b.records):
        return f"All {len(pairs)} rounds are the same to the last digit."
    return f"The {len(pairs)} rounds that both have are the same to the last digit."


def _timeless(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != "seconds"}


def _settings(a: Run, b: Run) -> RenderableType:
    found = differing([a, b])
    if not found:
        return "The settings are the same."
    table = Table(box=None, header_style="dim", padding=(0, 2))
    for name in ("setting", str(a.path), str(b.path)):
        table.add_column(name, overflow="fold")
    for key, (left, right) in found.items():
        table.add_row(key, _shown(left), _shown(right))
    return table


def _results(a: Run, b: Run) -> RenderableType:
    table = Table(box=None, header_style="dim", padding=(0, 2))
    table.add_column("mean of the last 10 tests")
    for name in (str(a.path), str(b.path), "difference"):
        table.add_column(name, justify="right", overflow="fold")
    for name in _SCORES:
        values = [_last_ten(run, name) for run in (a, b)]
        table.add_row(name.replace("_", " "), *map(_percent, values), _gap(values))
    return table


def _rounds(a: Run, b: Run) -> RenderableType:
    """Show the accuracies of about ten rounds, the last one among them."""
    pairs = list(zip(a.records, b.records, strict=False))
    step = max(1, len(pairs) // _SHOWN)
    table = Table(box=None, header_style="dim", padding=(0, 2))
    for name in ("stage", "round", "accuracy", "accuracy", "difference"):
        table.add_column(name, justify="right")
    for left, right in pairs[::-1][::step][::-1]:
        values = [left.get("accuracy"), right.get("accuracy")]
        place = str(left["stage"] + 1), str(left["round"])
        table.add_row(*place, *map(_percent, values), _gap(values))
    return table


def _last_ten(run: Run, name: str) -> float | None:
    last = [record for record in run.records if record["stage"] == _last_stage(run)]
    values = [record[name] for record in last if record.get(name) is not None][-10:]
    return sum(values) / len(values) if values else None


def _last_stage(run: Run) -> int:
    return int(run.records[-1]["stage"]) if run.records else 0


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.2%}"


def _gap(values: Sequence[float | None]) -> str:
    left, right = values
    return "–" if left is None or right is None else f"{100 * (right - left):+.2f}"


def _shown(value: Any) -> str:
    return "–" if value is None else str(value)
