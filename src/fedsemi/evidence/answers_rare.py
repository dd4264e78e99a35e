"""Q3: when does weighting matter?"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.catalogue import Setting, setting
from fedsemi.evidence.effects import SCORES, Effect, effect_of, said_of
from fedsemi.evidence.interval_plot import ends
from fedsemi.evidence.numbers import points, short
from fedsemi.evidence.questions import HOLDERS, LABELS, MAIN, MNIST_SEEDS
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.shares import moved_sentence
from fedsemi.evidence.short import NO, OPEN, YES, Part, part_of, parts_of, word_of
from fedsemi.evidence.stats import Paired, paired
from fedsemi.evidence.stopping import WORTH

_COLUMNS: dict[str, dict[str, Any]] = {
    **{f"{labels} labels": {"rare.labeled_size": labels} for labels in LABELS},
    "skew 0.5": {"rare.skew": 0.5},
    "20 clients": {"num_clients": 20},
}
"""What else the map varies; the last two with the labels of the main cell."""
_MAIN_COLUMN = f"{MAIN['rare.labeled_size']} labels"
_COST = "Cost"
_REGIONS = {
    YES: "are worth having with",
    NO: "make no difference worth having with",
    _COST: "cost with",
}

Map = dict[tuple[int, str], Effect]


def when(evidence: Evidence) -> Answer:
    """Q3: SemiAnAgg − uniform over the map."""
    found, fall = _map(evidence), _fall(evidence)
    ran = [each for each in found.values() if each.test is not None]
    return Answer(
        "q3",
        "When does weighting matter?",
        _count(ran) if ran else "not run",
        (
            _by_holders(found),
            *(each.sentence for each in fall if each.test is not None),
            _region(found),
            *(said for said in _moved(evidence) if said),
            f"{len(ran)} of {len(found)} cells were run.",
        ),
        ("score", "holders", *_COLUMNS),
        tuple(_map_rows(found)) if ran else (),
        f"{said_of([*found.values(), *fall])} Intervals of 95 %; n is the number of "
        f"seeds, {MNIST_SEEDS} are planned. The last rows say how many seeds an "
        f"interval of ±{WORTH} takes at the observed deviation, by the global model.",
        tuple(_heat_maps(found)) if ran else (),
        (*_parts(found), part_of(fall[-1].what, fall[-1])),
    )


def _map(evidence: Evidence) -> Map:
    found = {}
    for holders in HOLDERS:
        for name, changed in _COLUMNS.items():
            what = f"SemiAnAgg − uniform, MNIST, {_held_by(holders)}, {name}"
            pair = _arms_at(holders, changed)
            found[holders, name] = effect_of(evidence, what, *pair, MNIST_SEEDS)
    return found


def _arms_at(holders: int, changed: Mapping[str, Any]) -> tuple[Setting, Setting]:
    place = {**MAIN, "rare.holders": holders, **changed}
    return setting("mnist", "semianagg", **place), setting("mnist", "uniform", **place)


def _held_by(holders: int) -> str:
    return "1 holder" if holders == 1 else f"{holders} holders"


def _fall(evidence: Evidence) -> list[Effect]:
    """Test in the main column whether the lead falls from holders to more holders.

    Leads are compared seed by seed; the last one is from the fewest to the most.
    """
    fewest, *_, most = HOLDERS
    pairs = [*pairwise(HOLDERS), (fewest, most)]
    return [
        Effect(
            f"SemiAnAgg's lead over equal shares with {_held_by(few)} less that with "
            f"{many}, MNIST, {_MAIN_COLUMN}",
            {score: _less(evidence, few, many, score) for score in SCORES},
            MNIST_SEEDS,
        )
        for few, many in pairs
    ]


def _less(evidence: Evidence, few: int, many: int, score: str) -> Paired | None:
    """Test one lead against another on the seeds that all four runs have."""
    scores = [
        evidence.scores(arm, score)
        for holders in (few, many)
        for arm in _arms_at(holders, {})
    ]
    seeds = sorted(set.intersection(*(set(each) for each in scores)))
    if not seeds:
        return None
    ours, equal, theirs, equal_there = ([each[s] for s in seeds] for each in scores)
    return paired(
        [a - b for a, b in zip(ours, equal, strict=True)],
        [a - b for a, b in zip(theirs, equal_there, strict=True)],
        seeds=seeds,
    )


def _region(found: Map) -> str:
    """Name the region in which a user should care, as far as it is known."""
    told = []
    for word, said in _REGIONS.items():
        cells = [
            f"{_held_by(h)} ({n})" for (h, n), e in found.items() if _side(e) == word
        ]
        if cells:
            told.append(f"{said} {', '.join(cells)}")
    region = f"Weights {'; '.join(told)}; elsewhere it is open. " if told else ""
    return f"{region}The map is of MNIST only, with nine unlabeled sites or nineteen."


def _count(effects: list[Effect]) -> str:
    """Say how many cells have which finding."""
    findings = [each.finding for each in effects]
    counts = {name: findings.count(name) for name in dict.fromkeys(findings)}
    words = [f"{n} cell{'s' if n > 1 else ''} {name}" for name, n in counts.items()]
    return "; ".join(words)


def _parts(found: Map) -> tuple[Part, ...]:
    """Tell the main column, and count the map."""
    names = [f"MNIST, half of the digits at {holders} of nine" for holders in HOLDERS]
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


def _side(effect: Effect) -> str:
    """Tell a loss from a difference that does not matter; both are no gain."""
    word, test = word_of(effect), effect.test
    below = test is not None and test.high is not None and test.high < 0
    return _COST if word == NO and below else word


def _map_rows(found: Map) -> list[tuple[str, ...]]:
    rows = []
    for score, title in SCORES.items():
        for holders in HOLDERS:
            tests = [found[holders, name].tests[score] for name in _COLUMNS]
            cells = ["–" if t is None else f"{short(t)}, n = {t.n}" for t in tests]
            rows.append((title, str(holders), *cells))
    for holders in HOLDERS:
        needed = [found[holders, name].seeds_needed for name in _COLUMNS]
        cells = ["–" if n is None else str(n) for n in needed]
        rows.append((f"seeds for ±{WORTH}", str(holders), *cells))
    return rows


def _heat_maps(found: Map) -> list[dict[str, Any]]:
    """Draw a map by each score, in the same colors for the same differences."""
    tests = [test for each in found.values() for test in each.tests.values() if test]
    most = round(max([WORTH, *(abs(test.mean) for test in tests)]), 2)
    return [
        {
            "kind": "map",
            "title": f"SemiAnAgg − uniform, {title}",
            "note": "Points of accuracy, 95 % interval and seeds; framed where the "
            f"interval excludes zero, dashed with fewer than the {MNIST_SEEDS} "
            "planned seeds, by which nothing is claimed yet; palest within "
            f"±{WORTH}, a color being the same by both scores. With {_MAIN_COLUMN} "
            "where none is named.",
            "planned": MNIST_SEEDS,
            "row_label": "sites that hold half of the digits",
            "worth": WORTH,
            "most": most,
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
