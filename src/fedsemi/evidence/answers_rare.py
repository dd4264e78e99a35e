"""Q3: when does weighting matter?"""

from __future__ import annotations

from typing import Any

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.effects import (
    SCORES,
    WORTH,
    Effect,
    effect_of,
    ends,
    points,
    said_of,
    short,
)
from fedsemi.evidence.questions import HOLDERS, LABELS, MAIN
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.shares import moved_sentence
from fedsemi.evidence.short import NO, OPEN, YES, Part, parts_of, word_of

_SEEDS = 10
_COLUMNS: dict[str, dict[str, Any]] = {
    **{f"{labels} labels": {"rare.labeled_size": labels} for labels in LABELS},
    "skew 0.5": {"rare.skew": 0.5},
    "20 clients": {"num_clients": 20},
}
"""What else the map varies; the last two with the labels of the main cell."""
_MAIN_COLUMN = f"{MAIN['rare.labeled_size']} labels"

Map = dict[tuple[int, str], Effect]


def when(evidence: Evidence) -> Answer:
    """Q3: SemiAnAgg − uniform over the map."""
    found = _map(evidence)
    ran = [each for each in found.values() if each.test is not None]
    return Answer(
        "q3",
        "When does weighting matter?",
        _count(ran) if ran else "not run",
        (
            _by_holders(found),
            *(said for said in _moved(evidence) if said),
            *(cell.outlook for cell in _main_column(found) if cell.outlook),
            f"{len(ran)} of {len(found)} cells were run.",
        ),
        ("score", "holders", *_COLUMNS),
        tuple(_map_rows(found)) if ran else (),
        f"{said_of(list(found.values()))} Intervals of 95 %; n is the number of seeds, "
        f"{_SEEDS} are planned.",
        tuple(_heat_maps(found)) if ran else (),
        _parts(found),
    )


def _map(evidence: Evidence) -> Map:
    found = {}
    for holders in HOLDERS:
        for name, changed in _COLUMNS.items():
            place = MAIN | {"rare.holders": holders} | changed
            holds = "1 holder" if holders == 1 else f"{holders} holders"
            what = f"SemiAnAgg − uniform, MNIST, {holds}, {name}"
            ours, other = (
                setting("mnist", arm, **place) for arm in ("semianagg", "uniform")
            )
            found[holders, name] = effect_of(evidence, what, ours, other, _SEEDS)
    return found


def _count(effects: list[Effect]) -> str:
    """Say how many cells have which finding."""
    findings = [each.finding for each in effects]
    counts = {name: findings.count(name) for name in dict.fromkeys(findings)}
    words = [f"{n} cell{'s' if n > 1 else ''} {name}" for name, n in counts.items()]
    return "; ".join(words)


def _parts(found: Map) -> tuple[Part, ...]:
    """Tell the main column, and count the map."""
    names = [f"half of the digits at {holders} of nine sites" for holders in HOLDERS]
    column = dict(zip(names, _main_column(found), strict=True))
    words = [word_of(each) for each in found.values()]
    counts = [f"{word.lower()} in {words.count(word)}" for word in (YES, NO, OPEN)]
    early = sum(each.seeds < each.planned for each in found.values())
    rest = f", of which {early} lack seeds" if early else ""
    told = f"{', '.join(counts)} of {len(found)} cells{rest}"
    return (*parts_of(column), Part("Map", told))


def _main_column(found: Map) -> list[Effect]:
    return [found[holders, _MAIN_COLUMN] for holders in HOLDERS]


def _moved(evidence: Evidence) -> list[str]:
    """Say for each number of holders how far shares are from equal ones."""
    return [
        moved_sentence(
            evidence,
            setting("mnist", "semianagg", **MAIN | {"rare.holders": holders}),
            f"{holders} of nine",
        )
        for holders in HOLDERS
    ]


def _by_holders(found: Map) -> str:
    """Say how the difference falls with the number of holders, in the main column."""
    parts = []
    for holders, cell in zip(HOLDERS, _main_column(found), strict=True):
        told = "not run yet"
        if cell.test is not None:
            told = f"{points(cell.test, cell.progress)}, {cell.finding}"
        parts.append(f"{holders} of nine, {told}")
    return (
        f"SemiAnAgg − uniform on MNIST with {_MAIN_COLUMN}, by how many sites hold "
        f"half of the digits: {'; '.join(parts)}."
    )


def _map_rows(found: Map) -> list[tuple[str, ...]]:
    rows = []
    for score, title in SCORES.items():
        for holders in HOLDERS:
            tests = [found[holders, name].tests[score] for name in _COLUMNS]
            cells = ["–" if t is None else f"{short(t)}, n = {t.n}" for t in tests]
            rows.append((title, str(holders), *cells))
    return rows


def _heat_maps(found: Map) -> list[dict[str, Any]]:
    return [
        {
            "kind": "map",
            "title": f"SemiAnAgg − uniform, {title}",
            "note": "Points of accuracy, 95 % interval and seeds; framed where the "
            f"interval excludes zero, palest within ±{WORTH}.",
            "row_label": "sites that hold half of the digits",
            "worth": WORTH,
            "rows": [str(holders) for holders in HOLDERS],
            "columns": list(_COLUMNS),
            "cells": [
                [
                    None
                    if (test := found[h, name].tests[score]) is None
                    else ends(test)
                    for name in _COLUMNS
                ]
                for h in HOLDERS
            ],
        }
        for score, title in SCORES.items()
    ]
