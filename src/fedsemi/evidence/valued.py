"""Q5: do contributions follow what a client's answers are worth at the end?

`results/worth/SEED.json` is what `fedsemi value` wrote of Q5's run with that seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fedsemi.evidence.effects import interval, signed
from fedsemi.evidence.render import markdown_table
from fedsemi.evidence.stats import paired
from fedsemi.runs.folder import read_json

FOLDER = Path("results/worth")
_GIVEN = ("Data size",)
"""Measures that no run decides."""


def worth_table(folder: Path) -> str:
    """Write the mean rank correlation of each two measures over the seeds."""
    records = [read_json(path) for path in sorted(folder.glob("*.json"))]
    if not records:
        return "Not run yet."
    pairs = [(each["a"], each["b"]) for each in records[0]["correlations"]]
    rows = [_row(a, b, found) for a, b in pairs if (found := _rhos(records, a, b))]
    head = ("rank correlation of", "mean", "95 % interval", "by seed")
    seeds = "one seed" if len(records) == 1 else f"{len(records)} seeds"
    about = f"{seeds}, {records[0]['correlations'][0]['clients']} unlabeled sites each."
    return f"{markdown_table(head, rows)}\n\n{about} {_first(records)}"


def _first(records: Sequence[Mapping[str, Any]]) -> str:
    """Say how often the site with the largest share is worth most."""
    times: dict[str, int] = {}
    for record in records:
        values = {
            each["name"]: {worth["client"]: worth["value"] for worth in each["values"]}
            for each in record["measures"]
            if each["name"] not in _GIVEN
        }
        shares = values.pop("Contribution")
        # Who alone has labels is never left out, so that not all measures have it.
        common = set(shares).intersection(*values.values())
        largest = max(common, key=lambda client: shares[client])
        for name, worths in values.items():
            best = max(common, key=lambda client: worths[client])
            times[name] = times.get(name, 0) + (best == largest)
    counted = ", ".join(f"{name} {count}" for name, count in times.items())
    return (
        "How often the unlabeled site with the largest share is worth most, of "
        f"{len(records)}: {counted}."
    )


def _rhos(records: Sequence[Mapping[str, Any]], a: str, b: str) -> list[float]:
    return [
        each["rho"]
        for record in records
        for each in record["correlations"]
        # None where a measure is the same for all sites.
        if (each["a"], each["b"]) == (a, b) and each["rho"] is not None
    ]


def _row(a: str, b: str, rhos: Sequence[float]) -> tuple[str, ...]:
    test = paired(list(rhos), [0.0] * len(rhos))
    ends = "–" if test.low is None else interval(test)
    each = ", ".join(map(signed, rhos))
    return (f"{a} – {b}", signed(test.mean), ends, each)
