"""Plots as data for the page: curves with bands, shares, bars and heat maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fedsemi.evidence.arms import ARMS
from fedsemi.evidence.catalogue import Chart, Setting
from fedsemi.evidence.jobs import job_of
from fedsemi.evidence.layout import named, titled
from fedsemi.evidence.records import Record
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.stats import Spread, reach_of, spread
from fedsemi.evidence.sweep_plot import sweep_plots
from fedsemi.report.ranks import Correlation, correlations
from fedsemi.text.printable import printable

Plot = dict[str, Any]
_DEVIATION, _INTERVAL = "± 1 standard deviation", "95 % interval"
"""What the ends of a band or an upright line are."""


def plots_of(chart: Chart, evidence: Evidence) -> list[Plot]:
    """Draw a chart from the records that there are; nothing if there are none."""
    made = _MAKERS[chart.kind](chart, evidence)
    return [{"title": chart.title, **plot} for plot in made]


def _curves(chart: Chart, evidence: Evidence) -> list[Plot]:
    found = {each: evidence.found(each) for each in chart.settings}
    ran = {setting: runs for setting, runs in found.items() if runs}
    if not ran:
        return []
    seeds = _shared_seeds(list(ran.values()))
    series = []
    for setting, runs in ran.items():
        kept = [run for seed, run in runs.items() if not seeds or seed in seeds]
        before = _rounds_before(setting, evidence)
        series.append({"name": _line(chart, setting), **_band(kept, chart, before)})
    missing = [_line(chart, each) for each, runs in found.items() if not runs]
    note = _said(_over(seeds, list(ran.values())), missing)
    plot = {"kind": "lines", "note": note, "ends": _DEVIATION, "series": series}
    return [plot]


def _over(shared: set[int], found: Sequence[Mapping[int, Record]]) -> str:
    """Say of which seeds lines are means."""
    if all(set(runs) == set(found[0]) for runs in found):
        return "seeds"
    return "the seeds that all lines have" if shared else "the seeds that each line has"


def _said(seeds: str, missing: Sequence[str]) -> str:
    """Say what lines and bands are, and what was not run."""
    note = (
        f"Mean over {seeds}; the band is {_DEVIATION}. Rounds count from the start of "
        "training; the warm-up is not drawn."
    )
    return f"{note} Not run: {'; '.join(missing)}." if missing else note


def _line(chart: Chart, setting: Setting) -> str:
    # The title of the chart says where in a sweep it is.
    return named(replace(setting, partition=()) if chart.at_point else setting)


def _shared_seeds(found: Sequence[Mapping[int, Record]]) -> set[int]:
    """Return the seeds that all have; none if they are too few for a spread."""
    shared = set.intersection(*(set(runs) for runs in found))
    return shared if len(shared) > 1 else set()


def _rounds_before(setting: Setting, evidence: Evidence) -> int:
    """Count the rounds before the last stage, so that arms meet at equal training."""
    warm_up = job_of(setting, 1, evidence.source).warm_up
    return 0 if warm_up is None else sum(stage.rounds for stage in warm_up.stages)


def _band(runs: Sequence[Record], chart: Chart, before: int) -> dict[str, Any]:
    """Take mean and spread at each tested round of the last stage."""
    by_round: dict[int, list[float]] = {}
    for run in runs:
        tests = run["rounds"]
        for stage, at, value in zip(
            tests["stage"], tests["round"], tests[chart.metric], strict=True
        ):
            if stage == tests["stage"][-1] and value is not None:
                by_round.setdefault(before + at, []).append(value)
    spreads = {at: spread(values) for at, values in sorted(by_round.items())}
    line = {
        "xs": list(spreads),
        "values": [round(each.mean, 4) for each in spreads.values()],
        "seeds": len(runs),
    }
    known = [(each.mean, each.sd) for each in spreads.values() if each.sd is not None]
    if len(known) < len(spreads):  # one seed has no band
        return line
    ends = {"low": -1, "high": 1}
    return line | {
        key: [round(mean + side * sd, 4) for mean, sd in known]
        for key, side in ends.items()
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
                note = f"{titled(setting.dataset)}: {named(setting)}, seed {seed}."
                plots.append({"kind": "lines", "note": note, "series": series})
        return plots

    return make


@dataclass(frozen=True)
class Lost:
    """What goes with a client: points over seeds, and means of its share and size."""

    points: Spread
    contribution: float
    size: float


def leave_one_out(
    chart: Chart, evidence: Evidence
) -> tuple[dict[int, Lost], list[Correlation]]:
    """Say what is lost without each client, beside contribution and data size.

    Over those seeds that have the run with everybody and the one without.
    """
    whole, *rest = chart.settings
    everybody, scores = evidence.found(whole), evidence.scores(whole, chart.metric)
    rows: dict[int, Lost] = {}
    for setting in rest:
        client = setting.without
        assert client is not None
        left = evidence.scores(setting, chart.metric)
        if seeds := sorted(scores.keys() & left.keys()):
            points = spread([scores[seed] - left[seed] for seed in seeds])
            whose = [_share_and_size(everybody[seed], str(client)) for seed in seeds]
            contribution, size = np.mean(whose, axis=0)
            rows[client] = Lost(points, float(contribution), float(size))
    columns = {
        "Leave one out": np.array([row.points.mean for row in rows.values()]),
        "Contribution": np.array([row.contribution for row in rows.values()]),
        "Size": np.array([row.size for row in rows.values()]),
    }
    return rows, correlations(columns) if len(rows) > 2 else []


def _share_and_size(run: Record, client: str) -> tuple[float, int]:
    owned = run["owns"][client]
    share = run["clients"]["mean_contribution"].get(client, 0.0)
    return share, owned["num_labeled"] + owned["num_unlabeled"]


def _leave_one_out(chart: Chart, evidence: Evidence) -> list[Plot]:
    rows, found = leave_one_out(chart, evidence)
    if not rows:
        return []
    words = [
        f"{c.a} and {c.b}: rank correlation {c.rho:.2f} ({c.low:.2f} to {c.high:.2f})"
        for c in found
        if c.rho is not None
    ]
    note = (
        f"Points of {chart.metric.replace('_', ' ')} lost if the client is left out, "
        f"mean over seeds; the line is the {_INTERVAL}."
    )
    bars = [_lost(client, row) for client, row in rows.items()]
    plot = {"kind": "bars", "unit": "points", "ends": _INTERVAL, "rows": bars}
    return [plot | {"note": f"{note} {'; '.join(words)}." if words else note}]


def _lost(client: int, row: Lost) -> dict[str, Any]:
    points, reach = row.points, reach_of(row.points)
    low, high = points.mean - (reach or 0.0), points.mean + (reach or 0.0)
    lost = f"{points.mean:+.1f}".replace("-", "−")
    return {
        "name": f"client {client}",
        "value": round(points.mean, 3),
        **({} if reach is None else {"low": round(low, 3), "high": round(high, 3)}),
        "text": f"{lost}, n = {points.n}; {row.size:.0f} images; share "
        f"{row.contribution:.3f}",
        "seeds": points.n,
    }


def _bars(chart: Chart, evidence: Evidence) -> list[Plot]:
    """Draw scores, by how many clients have labels."""
    rows = []
    for setting in chart.settings:
        values = list(evidence.scores(setting, chart.metric).values())
        if values:
            found = spread(values)
            low, high = found.mean - (found.sd or 0.0), found.mean + (found.sd or 0.0)
            ends = {} if found.sd is None else {"low": low, "high": high}
            text = f"{found.mean:.1f} (n = {found.n})"
            labeled = dict(setting.partition).get("labeled_clients", 1)
            name = f"{labeled} labeled: {ARMS[setting.arm].title}"
            bar = {"name": name, "value": found.mean, "text": text}
            rows.append(bar | ends | {"seeds": found.n})
    metric = chart.metric.replace("_", " ").capitalize()
    note = f"{metric} in percent, mean over seeds; the line is {_DEVIATION}."
    plot = {"kind": "bars", "unit": "percent", "ends": _DEVIATION, "note": note}
    return [plot | {"rows": rows}] if rows else []


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
