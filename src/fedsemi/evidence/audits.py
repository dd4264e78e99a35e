"""The table of audits: how methods weigh sites, from the records of their audits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fedsemi.cards import CARDS
from fedsemi.evidence.layout import titled
from fedsemi.evidence.numbers import signed
from fedsemi.evidence.render import markdown_table
from fedsemi.runs.folder import read_json

_HEAD = (
    "method",
    "mean moved",
    "R² presence",
    "R² counts",
    "R² size",
    "R² all",
    "gain in a round",
    "step changed",
    "most of it in",
)

_UNSAID = "LC"
"""The card of a record that names none: audits have whole clients labeled then."""


def audit_table(folder: Path) -> str:
    """Write a row for each record of a folder, a table for each card."""
    records = {path.stem: read_json(path) for path in sorted(folder.glob("*.json"))}
    if not records:
        return "Not run yet."
    parts = []
    for card in CARDS.values():
        own = {n: r for n, r in records.items() if (r["card"] or _UNSAID) == card.name}
        rows = [_row(name, record) for name, record in own.items()]
        table = markdown_table(_HEAD, rows)
        parts += [f"{card.name}, {card.title}:", table] if rows else []
    return "\n\n".join([*parts, _caption(list(records.values()))])


def _row(name: str, record: Mapping[str, Any]) -> tuple[str, ...]:
    explained, place = record["explained"], record["place"]
    facts = [explained[fact] for fact in ("presence", "counts", "size", "all")]
    part = place["part"] if place else {}
    most = max(part, key=lambda group: float(part[group])) if part else "–"
    return (
        f"`{name}`",
        f"{100 * record['moved']:.1f} %",
        *("–" if each is None else f"{abs(each):.2f}" for each in facts),
        f"{signed(100 * record['gain'])} points",
        f"{100 * place['whole']:.1f} %" if place else "0 %",
        f"{most}, {100 * part[most]:.0f} %" if part else most,
    )


def _caption(records: Sequence[Mapping[str, Any]]) -> str:
    rounds = sorted({record["rounds"] for record in records})
    data = sorted({titled(record["config"]["data"]["name"]) for record in records})
    seeds = sorted({record["config"]["seed"] for record in records})
    return (
        f"{_listed(data)}, {_listed(rounds)} rounds from the trained model on, after "
        f"one that is not looked at, seed {_listed(seeds)}: a look at mechanisms, no "
        "ranking. Mean moved: half of the sum of gaps to equal shares. R²: of shares "
        "in equal ones, by facts in their means over the sites of the same round and "
        "kind, of which there must be two; – where all shares are equal. One site far "
        "from all others can make a large one: rank correlations are in the records. "
        "Gain: accuracy of the mean with the method's shares minus that of the same "
        "updates with equal ones. Step changed: length of the difference of both "
        "steps, in lengths of the equal one."
    )


def _listed(values: Sequence[object]) -> str:
    return ", ".join(map(str, values))
