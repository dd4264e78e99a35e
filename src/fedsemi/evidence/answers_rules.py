"""Q6: choose among rules that may stand in for Eq. 4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.arms import ARMS
from fedsemi.evidence.catalogue import Setting, setting
from fedsemi.evidence.effects import HEAD, Effect, effect_of
from fedsemi.evidence.questions import (
    CHOOSING,
    CHOSEN,
    FEW_HOLDERS,
    MAIN,
    QUESTIONS,
    RULES,
)
from fedsemi.evidence.results import Evidence

OTHERS = {"semianagg": "SemiAnAgg", "uniform": "uniform"}
_NUMBERS = 4
"""Columns before what is found: a choice finds nothing."""
_NEAR = 0.3
"""Points within which the simplest rule is taken."""


def rules(evidence: Evidence) -> Answer:
    """Choose a rule, with the seeds that are for choosing."""
    question = QUESTIONS["q6"].title
    if evidence.source.name != CHOOSING:
        finding = "chosen with other seeds, here not run"
        text = f"{ARMS[CHOSEN].title} was chosen, with the profile `{CHOOSING}`."
        return Answer("q6", question, finding, (text,), HEAD, (), "")
    effects = {
        each.what: each
        for arm in RULES
        for each in on_mnist(evidence, arm, evidence.seeds)
    }
    title = "Rules − SemiAnAgg and − uniform"
    found = of_effects("q6", question, effects, [], title)
    return replace(
        found,
        finding="a choice, no finding",
        text=(_choice(evidence),),
        head=HEAD[:_NUMBERS],
        rows=tuple(row[:_NUMBERS] for row in found.rows),
        parts=(),
    )


def on_mnist(evidence: Evidence, arm: str, planned: int) -> list[Effect]:
    """Compare a rule with Eq. 4 and equal shares, in both cells."""
    return [
        effect_of(
            evidence,
            f"{ARMS[arm].title} − {name}, MNIST, {holders} "
            f"holder{'s' if holders > 1 else ''}",
            _cells(arm)[holders],
            _cells(other)[holders],
            planned,
        )
        for other, name in OTHERS.items()
        for holders in FEW_HOLDERS
    ]


def _cells(arm: str) -> dict[int, Setting]:
    return {
        holders: setting("mnist", arm, **MAIN | {"rare.holders": holders})
        for holders in FEW_HOLDERS
    }


def _choice(evidence: Evidence) -> str:
    """Choose by the mean of both cells, on the seeds that all arms have there."""
    levels, seeds = levels_of(evidence)
    if not seeds:
        return "No seed has all arms in both cells yet, so nothing is chosen."
    told = "; ".join(f"{ARMS[arm].title} {level:.2f}" for arm, level in levels.items())
    early = "" if seeds >= evidence.seeds else ", if it ended here"
    return (
        f"Means of both cells over {seeds} seed{'s' if seeds > 1 else ''}: {told}. "
        f"Chosen by the rule that was written down{early}: "
        f"{ARMS[chosen(levels)].title}."
    )


def levels_of(evidence: Evidence) -> tuple[dict[str, float], int]:
    """Return the mean score of each arm, and over how many seeds it is."""
    arms = dict.fromkeys(each.arm for each in QUESTIONS["q6"].settings)
    scores = {
        (arm, holders): evidence.scores(cell, "accuracy")
        for arm in arms
        for holders, cell in _cells(arm).items()
    }
    shared = set.intersection(*(set(found) for found in scores.values()))
    if not shared:
        return {}, 0
    return {
        arm: fmean(scores[arm, h][seed] for h in FEW_HOLDERS for seed in shared)
        for arm in arms
    }, len(shared)


def chosen(levels: Mapping[str, float]) -> str:
    """Take the best rule, or the first that is within `_NEAR` points of it.

    >>> chosen({"class-mass": 80.0, "presence-floor": 80.2, "presence-double": 79.0})
    'class-mass'
    >>> chosen({"class-mass": 80.0, "presence-floor": 81.0, "presence-double": 79.0})
    'presence-floor'
    """
    there = [arm for arm in RULES if arm in levels]
    best = max(levels[arm] for arm in there)
    return next(arm for arm in there if levels[arm] >= best - _NEAR)
