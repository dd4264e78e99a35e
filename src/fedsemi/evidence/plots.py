"""Plots as data for the page: curves with bands, shares, bars and heat maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fedsemi.evidence.arms import ARMS
from fedsemi.evidence.catalogue import Chart, Setting
from fedsemi.evidence.jobs import job_of
from fedsemi.evidence.records import Record, score
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.stats import spread
from fedsemi.evidence.sweep_plot import sweep_plots
from fedsemi.report.ranks import Correlation, correlations
from fedsemi.text.printable import printable

Plot = dict[str, Any]


def plots_of(chart: Chart, evidence: Evidence) -> list[Plot]:
    """Draw a chart from the records that there are; nothing if there are none."""
    made = _MAKERS[chart.kind](chart, evidence)
    return [{"title": chart.title, **plot} for plot in made]


def _title(setting: Setting) -> str:
    name = ARMS[setting.arm].title if setting.arm in ARMS else setting.arm
    return f"{name} {' '.join(f'{k}={v}' for k, v in setting.partition)}".strip()


def _curves(chart: Chart, evidence: Evidence) -> list[Plot]:
    series = []
    for setting in chart.settings:
        runs = list(evidence.found(setting).values())
        # The title of the chart says where in a sweep it is.
        named = replace(setting, partition=()) if chart.at_point else setting
        if runs:
            before = _rounds_before(setting, evidence)
            series.append({"name": _title(named), **_band(runs, chart.metric, before)})
    if not series:
        return []
    note = (
        "Mean over seeds; the band is one standard deviation. Rounds count from the "
        "start of training; the warm-up is not drawn."
    )
    return [{"kind": "lines", "note": note, "series": series}]


def _rounds_before(setting: Setting, evidence: Evidence) -> int:
    """Count the rounds before the last stage, so that arms meet at equal training."""
    warm_up = job_of(setting, 1, evidence.source).warm_up
    return 0 if warm_up is None else sum(stage.rounds for stage in warm_up.stages)


def _band(runs: Sequence[Record], metric: str, before: int) -> dict[str, Any]:
    """Take mean and spread at each tested round of the last stage."""
    by_round: dict[int, list[float]] = {}
    for run in runs:
        tests = run["rounds"]
        for stage, at, value in zip(
            tests["stage"], tests["round"], tests[metric], strict=True
        ):
            if stage == tests["stage"][-1] and value is not None:
                by_round.setdefault(before + at, []).append(value)
    spreads = {at: spread(values) for at, values in sorted(by_round.items())}
    deviations = {at: each.sd or 0.0 for at, each in spreads.items()}
    return {
        "xs": list(spreads),
        "values": [round(each.mean, 4) for each in spreads.values()],
        "low": [round(e.mean - deviations[at], 4) for at, e in spreads.items()],
        "high": [round(e.mean + deviations[at], 4) for at, e in spreads.items()],
        "seeds": len(runs),
    }


def _by_client(name: str) -> Callable[[Chart, Evidence], list[Plot]]:
    def make(chart: Chart, evidence: Evidence) -> list[Plot]:
        plots = []
        for setting in chart.settings:
            for seed, run in list(evidence.found(setting).items())[:1]:
                series = [
                    {"name": f"client {id}", "xs": run["clients"]["round"], "values": v}
                    for id, v in run["clients"][name].items()
                ]
                note = f"{setting.label}, seed {seed}."
                plots.append({"kind": "lines", "note": note, "series": series})
        return plots

    return make


def leave_one_out(
    chart: Chart, evidence: Evidence
) -> tuple[dict[int, dict[str, float]], list[Correlation]]:
    """Say what is lost without each client, beside contribution and data size.

    Means over those seeds that have the run with everybody and the one without.
    """
    whole, *rest = chart.settings
    everybody = evidence.found(whole)
    rows: dict[int, dict[str, float]] = {}
    for setting in rest:
        client = setting.without
        assert client is not None
        lost, shares, sizes = [], [], []
        for seed, run in evidence.found(setting).items():
            if seed not in everybody:
                continue
            full = everybody[seed]
            a, b = score(full, "accuracy"), score(run, "accuracy")
            if a is None or b is None:
                continue
            lost.append(a - b)
            shares.append(full["clients"]["mean_contribution"].get(str(client), 0.0))
            owned = full["owns"][str(client)]
            sizes.append(owned["num_labeled"] + owned["num_unlabeled"])
        if lost:
            means = [float(np.mean(each)) for each in (lost, shares, sizes)]
            rows[client] = dict(
                zip(("lost", "contribution", "size"), means, strict=True)
            )
    names = {"Leave one out": "lost", "Contribution": "contribution", "Size": "size"}
    columns = {
        name: np.array([row[key] for row in rows.values()])
        for name, key in names.items()
    }
    return rows, correlations(columns) if len(rows) > 2 else []


def _leave_one_out(chart: Chart, evidence: Evidence) -> list[Plot]:
    rows, found = leave_one_out(chart, evidence)
    if not rows:
        return []
    words = [
        f"{c.a} and {c.b}: rank correlation {c.rho:.2f} ({c.low:.2f} to {c.high:.2f})"
        for c in found
        if c.rho is not None
    ]
    bars = [
        {
            "name": f"client {client}",
            "value": round(row["lost"], 3),
            "text": f"{row['lost']:+.1f} points; {row['size']:.0f} images; share "
            f"{row['contribution']:.3f}",
        }
        for client, row in rows.items()
    ]
    note = "Accuracy lost in percentage points if the client is left out. "
    plot = {"kind": "bars", "unit": "points", "rows": bars}
    return [plot | {"note": note + "; ".join(words)}]


def _bars(chart: Chart, evidence: Evidence) -> list[Plot]:
    rows = []
    for setting in chart.settings:
        values = list(evidence.scores(setting, "balanced_accuracy").values())
        if values:
            found = spread(values)
            error = found.sd or 0.0
            ends = {"low": found.mean - error, "high": found.mean + error}
            text = f"{found.mean:.1f} (n = {found.n})"
            bar = {"name": _title(setting), "value": found.mean, "text": text}
            rows.append(bar | ends | {"seeds": found.n})
    note = "Balanced accuracy in percent; the line is one standard deviation."
    plot = {"kind": "bars", "unit": "percent", "note": note, "rows": rows}
    return [plot] if rows else []


def _classes(chart: Chart, evidence: Evidence) -> list[Plot]:
    plots = []
    for setting in chart.settings:
        for seed, run in list(evidence.found(setting).items())[:1]:
            counts = {id: own["class_count"] for id, own in run["owns"].items()}
            plots.append(
                {
                    "kind": "heat",
                    "note": f"Images of each class; client 0 has labels. Seed {seed}.",
                    "rows": list(counts),
                    "columns": [printable(str(name)) for name in run["class_names"]],
                    "values": list(counts.values()),
                }
            )
    return plots


_MAKERS: dict[str, Callable[[Chart, Evidence], list[Plot]]] = {
    "curves": _curves,
    "contributions": _by_client("contribution"),
    "pseudo-labels": _by_client("pseudo_label_accuracy"),
    "leave-one-out": _leave_one_out,
    "classes": _classes,
    "bars": _bars,
    "sweep": sweep_plots,
}
