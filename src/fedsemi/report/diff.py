"""Two runs side by side: settings, results, and where they part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from fedsemi.client.evaluate import MAIN_SCORES
from fedsemi.report.run import Run
from fedsemi.report.settings import differing
from fedsemi.report.view import distinct_names
from fedsemi.runs.folder import mean_scores

_SHOWN = 10
_ASIDE = {"seconds", "stage", "round", "rounds", "guard"}
"""What tells of a round's time, place and settings, not of its outcome."""


def differences(a: Run, b: Run) -> RenderableType:
    """Show in what two runs differ."""
    names = distinct_names([a, b])
    pairs = zip((a, b), names, strict=True)
    ends = [_unfinished(run, name) for run, name in pairs if not run.finished]
    parts = [_settings(a, b, names), *ends, "", _results(a, b, names), ""]
    parts.append(first_difference(a, b))
    both = a.records and b.records
    return Group(*parts, *([_rounds(a, b, names)] if both else []))


def first_difference(a: Run, b: Run) -> str:
    """Say in which round two runs part, comparing all that was measured but time."""
    pairs = list(zip(a.records, b.records, strict=False))
    for number, pair in enumerate(pairs, start=1):
        left, right = (record.as_json() for record in pair)
        names = [k for k in left | right if left.get(k) != right.get(k)]
        told = [name.replace("_", " ") for name in names if name not in _ASIDE]
        if told:
            place = f"round {number}, counted over all stages"
            return f"They part in {place}: {', '.join(told)}."
    if not pairs:
        return "There is no round that both have."
    if len(a.records) == len(b.records):
        return f"All {len(pairs)} rounds are the same to the last digit."
    return f"The {len(pairs)} rounds that both have are the same to the last digit."


def _unfinished(run: Run, name: str) -> str:
    stage = run.records[-1].stage + 1 if run.records else 1
    place = f"{len(run.records)} of {run.num_rounds} rounds"
    stages = f", stage {stage} of {len(run.methods)}"
    return f"{name} has not ended: {place}{stages}."


def _settings(a: Run, b: Run, names: Sequence[str]) -> RenderableType:
    found = differing([a, b])
    if not found:
        return "The settings are the same."
    table = Table(box=None, header_style="dim", padding=(0, 2))
    for name in ("setting", *names):
        table.add_column(name, overflow="fold")
    for key, (left, right) in found.items():
        table.add_row(key, _shown(left), _shown(right))
    return table


def _results(a: Run, b: Run, names: Sequence[str]) -> RenderableType:
    table = Table(box=None, header_style="dim", padding=(0, 2))
    counts = [len(run.last_tests()) for run in (a, b)]
    table.add_column(
        f"mean of the last {' and '.join(map(str, dict.fromkeys(counts)))} tests"
    )
    for name in (*names, "difference"):
        table.add_column(name, justify="right", overflow="fold")
    for name in MAIN_SCORES:
        values = [mean_scores(run.last_tests())[name] for run in (a, b)]
        table.add_row(name.replace("_", " "), *map(_percent, values), _gap(values))
    return table


def _rounds(a: Run, b: Run, names: Sequence[str]) -> RenderableType:
    """Show the accuracies of about ten rounds, the last one among them."""
    pairs = list(enumerate(zip(a.records, b.records, strict=False), start=1))
    step = max(1, len(pairs) // _SHOWN)
    table = Table(box=None, header_style="dim", padding=(0, 2))
    for name in ("accuracy after round", *names, "difference"):
        table.add_column(name, justify="right", overflow="fold")
    for number, pair in pairs[::-1][::step][::-1]:
        values = [r.test.accuracy if r.test else None for r in pair]
        table.add_row(str(number), *map(_percent, values), _gap(values))
    return table


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.2%}"


def _gap(values: Sequence[float | None]) -> str:
    left, right = values
    return "–" if left is None or right is None else f"{100 * (right - left):+.2f}"


def _shown(value: Any) -> str:
    return "–" if value is None else str(value)
