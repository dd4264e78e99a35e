"""Q3: when does weighting matter, and how much weight does a lonely site need?"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean
from typing import Any

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.arms import ARMS
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.effects import (
    HEAD,
    SCORES,
    WORTH,
    Effect,
    effect_of,
    ends,
    interval_plot,
    points,
    rows_of,
    said_of,
    short,
)
from fedsemi.evidence.questions import HOLDERS, LABELS, MAIN, QUESTIONS
from fedsemi.evidence.records import Record
from fedsemi.evidence.results import Evidence

_SEEDS = 10
_COLUMNS: dict[str, dict[str, Any]] = {
    **{f"{labels} labels": {"rare.labeled_size": labels} for labels in LABELS},
    "skew 0.5": {"rare.skew": 0.5},
    "20 clients": {"num_clients": 20},
}
"""What else the map varies; the last two with the labels of the main cell."""
_MAIN_COLUMN = f"{MAIN['rare.labeled_size']} labels"
_DOSES = tuple(each.arm for each in QUESTIONS["q3-dose"].settings)

Map = dict[tuple[int, str], Effect]


def when(evidence: Evidence) -> Answer:
    """Q3: SemiAnAgg − uniform over the map."""
    found = _map(evidence)
    ran = [each for each in found.values() if each.test is not None]
    return Answer(
        "q3",
        "When does weighting matter?",
        _count(ran) if ran else "not run",
        (_by_holders(found), f"{len(ran)} of {len(found)} cells were run."),
        ("score", "holders", *_COLUMNS),
        tuple(_map_rows(found)) if ran else (),
        f"{said_of(list(found.values()))} Intervals of 95 %; n is the number of seeds, "
        f"{_SEEDS} are planned.",
        tuple(_heat_maps(found)) if ran else (),
    )


def _map(evidence: Evidence) -> Map:
    found = {}
    for holders in HOLDERS:
        for name, changed in _COLUMNS.items():
            place = MAIN | {"rare.holders": holders} | changed
            what = f"{holders} holder{'s' if holders > 1 else ''}, {name}"
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


def _by_holders(found: Map) -> str:
    """Say how the difference falls with the number of holders, in the main column."""
    parts = []
    for holders in HOLDERS:
        cell = found[holders, _MAIN_COLUMN]
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


def _cell(effect: Effect, score: str) -> dict[str, Any] | None:
    test = effect.tests[score]
    return None if test is None else ends(test)


def dose(evidence: Evidence) -> Answer:
    """Q3: accuracy against the share of the site that alone holds classes."""
    base = setting("mnist", "uniform", **MAIN)
    effects: dict[str, Effect] = {}
    shares: dict[str, float] = {}
    dots = []
    for arm in _DOSES:
        other, power = setting("mnist", arm, **MAIN), _power(arm)
        if arm != "uniform":
            what = f"presence to the power {power} − uniform"
            effects[power] = effect_of(evidence, what, other, base, _SEEDS)
        if records := evidence.found(other):
            shares[power] = mean(lonely_share(each) for each in records.values())
            level = mean(evidence.scores(other, "accuracy").values())
            dots.append({"name": power, "x": shares[power], "y": level})
    ran = {power: each for power, each in effects.items() if each.test is not None}
    told = [f"power {power}: {share:.3f}" for power, share in shares.items()]
    mean_share = f"Mean share of the lonely site by power: {'; '.join(told)}."
    gains = [
        f"power {power}: {points(each.test, each.progress)}, {each.finding}"
        for power, each in ran.items()
        if each.test
    ]
    gain = f"Presence to a power − uniform: {'; '.join(gains)}."
    missing = f"No dose was run yet (0 of {_SEEDS} seeds so far)."
    return Answer(
        "q3-dose",
        "How much weight does a site need that alone holds classes?",
        "; ".join(f"power {k}: {each.finding}" for k, each in ran.items()) or "not run",
        (gain, mean_share) if ran else (missing,),
        HEAD,
        rows_of(list(effects.values())),
        f"{said_of(list(effects.values()))} The power 0 is uniform weights, 1 is class "
        "presence.",
        (*_curve(dots), *interval_plot(list(effects.values()), "Against equal shares")),
    )


def _power(arm: str) -> str:
    if arm == "uniform":
        return "0"
    return f"{ARMS[arm].steps[-1].settings.get('sharpness', 1.0):g}"


def _curve(dots: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if len(dots) < len(_DOSES):  # a part of the curve would mislead
        return []
    return [
        {
            "kind": "dose",
            "title": "Accuracy against the share of the lonely site",
            "note": "Means over the seeds of each power of presence (0 is uniform), in "
            "percent; the intervals of the differences are below.",
            "label": "share of the whole mean that the lonely site gets",
            "points": [
                each | {"x": round(each["x"], 4), "y": round(each["y"], 2)}
                for each in dots
            ],
        }
    ]


def lonely_share(record: Record) -> float:
    """Return the mean share of the site that alone holds some class."""
    share: float = record["clients"]["mean_contribution"][lonely_site(record["owns"])]
    return share


def lonely_site(owns: Mapping[str, Mapping[str, Any]]) -> str:
    """Find the unlabeled site that holds most images of classes nobody else has."""
    counts = {
        id: own["class_count"] for id, own in owns.items() if own["num_unlabeled"]
    }
    totals = [sum(column) for column in zip(*counts.values(), strict=True)]

    def alone(id: str) -> int:
        pairs = zip(counts[id], totals, strict=True)
        return sum(own for own, total in pairs if own == total)

    return max(counts, key=alone)
