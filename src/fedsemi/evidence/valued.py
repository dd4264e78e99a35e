"""Q5: do contributions follow what a client's answers are worth at the end?

`results/worth/SEED.json` is what `fedsemi value` wrote of Q5's run with that seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedsemi.evidence.numbers import interval, signed
from fedsemi.evidence.render import markdown_table
from fedsemi.evidence.stats import paired
from fedsemi.report.ranks import spearman
from fedsemi.runs.folder import read_json

FOLDER = Path("results/worth")
_SHARE = "Contribution"
Column = dict[int, float]
"""A number of each site."""


def worth_table(folder: Path) -> str:
    """Write the mean rank correlation of each two measures over the seeds."""
    paths = sorted(folder.glob("*.json"), key=lambda path: int(path.stem))
    records = [read_json(path) for path in paths]
    if not records:
        return "Not run yet."
    pairs = [(each["a"], each["b"]) for each in records[0]["correlations"]]
    rows = [_row(f"{a} – {b}", _rhos(records, a, b)) for a, b in pairs]
    rows += _rows_of_others(records)
    head = ("rank correlation of", "mean", "95 % interval", "by seed")
    table = markdown_table(head, [row for row in rows if row])
    seeds = "one seed" if len(records) == 1 else f"{len(records)} seeds"
    about = f"{seeds}, {records[0]['correlations'][0]['clients']} unlabeled sites each."
    return f"{table}\n\n{about} {_first(records)}"


def _rhos(records: Sequence[Mapping[str, Any]], a: str, b: str) -> list[float | None]:
    """Return a correlation by seed; None where a measure is the same for all sites."""
    return [
        each["rho"]
        for record in records
        for each in record["correlations"]
        if (each["a"], each["b"]) == (a, b)
    ]


def _row(name: str, rhos: Sequence[float | None]) -> tuple[str, ...]:
    known = [rho for rho in rhos if rho is not None]
    if not known:
        return ()
    test = paired(known, [0.0] * len(known))
    ends = "–" if test.low is None else interval(test)
    each = ", ".join("–" if rho is None else signed(rho) for rho in rhos)
    return (name, signed(test.mean), ends, each)


def _rows_of_others(records: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Correlate shares and worth without the site that has the largest share."""
    every = [_columns(record) for record in records]
    rhos: dict[str, list[float | None]] = {}
    for shares, worths in every:
        rest = sorted(set(shares) - {_best(shares)})
        ours = np.array([shares[client] for client in rest])
        for name, values in worths.items():
            theirs = np.array([values[client] for client in rest])
            rhos.setdefault(name, []).append(spearman(ours, theirs))
    return [
        _row(f"{_SHARE} – {name}, the others", found) for name, found in rhos.items()
    ]


def _first(records: Sequence[Mapping[str, Any]]) -> str:
    """Say how often the site with the largest share is worth most."""
    times: dict[str, int] = {}
    for shares, worths in map(_columns, records):
        for name, values in worths.items():
            times[name] = times.get(name, 0) + (_best(values) == _best(shares))
    counted = "; ".join(f"{name} {count}" for name, count in times.items())
    return (
        "How often the unlabeled site with the largest share is worth most, of "
        f"{len(records)}: {counted}. The others: all but that site."
    )


def _columns(record: Mapping[str, Any]) -> tuple[Column, dict[str, Column]]:
    """Return shares and, by measure, worths of the sites that all measures have.

    Who alone has labels is never left out, so that not all of them have it.
    """
    columns = {
        each["name"]: {worth["client"]: worth["value"] for worth in each["values"]}
        for each in record["measures"]
    }
    columns.pop("Data size")
    common = set.intersection(*(set(column) for column in columns.values()))
    kept = {name: {k: column[k] for k in common} for name, column in columns.items()}
    return kept.pop(_SHARE), kept


def _best(column: Column) -> int:
    return max(column, key=lambda client: column[client])
