"""Q6: rules that a few wrong pseudo-labels do not move, against Eq. 4 and uniform."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.arms import ARMS
from fedsemi.evidence.catalogue import Setting, setting
from fedsemi.evidence.effects import HEAD, Effect, effect_of
from fedsemi.evidence.questions import CHOOSING, MAIN, QUESTIONS, RULES
from fedsemi.evidence.results import Evidence

_SEEDS, _SVHN_SEEDS = 10, 5
_HOLDERS = (1, 2)
_NEAR = 0.3
"""Points within which the simplest rule is taken."""
_OTHERS = {"semianagg": "SemiAnAgg", "uniform": "uniform"}


def rules(evidence: Evidence) -> Answer:
    """Choose a rule, or judge the one that was chosen, by the profile."""
    question = QUESTIONS["q6"].title
    # One with a single cell was run for another question.
    ran = [arm for arm in RULES if all(map(evidence.found, _cells(arm).values()))]
    if not ran:
        missing = "No rule has been chosen yet, so none is judged."
        return Answer("q6", question, "not run", (missing,), HEAD, (), "")
    deciding, more = {}, []
    for arm in ran:
        for other in _OTHERS:
            for holders in _HOLDERS:
                each = _effect(evidence, arm, other, holders)
                deciding[each.what] = each
        more.append(_on_svhn(evidence, arm))
    if evidence.source.name == CHOOSING:
        title, choice = "Rules − SemiAnAgg and − uniform", _choice(evidence)
        found = of_effects("q6", question, deciding, [], title)
        return replace(found, finding="a choice, no finding", text=(choice,))
    title = "The chosen rule − SemiAnAgg and − uniform"
    return of_effects("q6", question, deciding, more, title)


def _cells(arm: str) -> dict[int, Setting]:
    return {
        holders: setting("mnist", arm, **MAIN | {"rare.holders": holders})
        for holders in _HOLDERS
    }


def _effect(evidence: Evidence, arm: str, other: str, holders: int) -> Effect:
    where = f"{holders} holder{'s' if holders > 1 else ''}"
    return effect_of(
        evidence,
        f"{ARMS[arm].title} − {_OTHERS[other]}, {where}",
        _cells(arm)[holders],
        _cells(other)[holders],
        evidence.seeds if evidence.source.name == CHOOSING else _SEEDS,
    )


def _on_svhn(evidence: Evidence, arm: str) -> Effect:
    ours, other = setting("svhn", arm), setting("svhn", "uniform")
    what = f"{ARMS[arm].title} − uniform, SVHN"
    return effect_of(evidence, what, ours, other, _SVHN_SEEDS)


def _choice(evidence: Evidence) -> str:
    """Choose by the mean of both cells, on the seeds that all arms have there."""
    arms = dict.fromkeys(each.arm for each in QUESTIONS["q6"].settings)
    scores = {
        (arm, holders): evidence.scores(cell, "accuracy")
        for arm in arms
        for holders, cell in _cells(arm).items()
    }
    shared = set.intersection(*(set(found) for found in scores.values()))
    if not shared:
        return "No seed has all arms in both cells yet, so nothing is chosen."
    levels = {
        arm: fmean(scores[arm, h][seed] for h in _HOLDERS for seed in shared)
        for arm in arms
    }
    told = "; ".join(f"{ARMS[arm].title} {level:.2f}" for arm, level in levels.items())
    seeds = f"{len(shared)} seed{'s' if len(shared) > 1 else ''}"
    early = "" if len(shared) >= evidence.seeds else ", if it ended here"
    return (
        f"Means of both cells over {seeds}: {told}. Chosen by the rule that was "
        f"written down{early}: {ARMS[chosen(levels)].title}."
    )


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
