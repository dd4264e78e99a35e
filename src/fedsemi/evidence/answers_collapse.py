"""Q11: is it the second choice that ruins CBAFed where every site has a few labels?"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.catalogue import Setting, setting
from fedsemi.evidence.effects import Effect, effect_of
from fedsemi.evidence.pseudo_labels import FIRST, LAST, right_part
from fedsemi.evidence.questions import FEW_LABELS, QUESTIONS
from fedsemi.evidence.results import Evidence

_SEEDS = 5
_CALLED = {
    "cbafed-first-choice": "CBAFed without the second choice",
    "cbafed": "CBAFed as published",
    "lower": "labels only",
}


def collapse(evidence: Evidence) -> Answer:
    """Compare CBAFed without the rule for rare classes with CBAFed as published."""
    ours = "cbafed-first-choice"
    return of_effects(
        "q11",
        QUESTIONS["q11"].title,
        {"ISIC-18": _effect(evidence, ours, "cbafed")},
        [_effect(evidence, ours, "lower"), _effect(evidence, "cbafed", "lower")],
        "CBAFed where a tenth of every site is labeled",
        list(_told(evidence)),
    )


def _effect(evidence: Evidence, ours: str, other: str) -> Effect:
    a, b = (setting("isic18", arm, **FEW_LABELS) for arm in (ours, other))
    what = f"{_CALLED[ours]} − {_CALLED[other]}, ISIC-18"
    return effect_of(evidence, what, a, b, _SEEDS)


def _told(evidence: Evidence) -> Iterator[str]:
    """Say of both how accurate the model is, and how right it labels."""
    ours, theirs = (
        setting("isic18", arm, **FEW_LABELS)
        for arm in ("cbafed-first-choice", "cbafed")
    )
    for place in (theirs, ours):
        scores = evidence.scores(place, "accuracy")
        if not scores:
            continue
        at_first, at_last = (_right(evidence, place, at) for at in (FIRST, LAST))
        yield (
            f"{_CALLED[place.arm]}: accuracy {fmean(scores.values()):.1f} %; of its "
            f"pseudo-labels {at_first} in the first round and {at_last} in the last."
        )


def _right(evidence: Evidence, place: Setting, at: int) -> str:
    """Say which part is right, or that there are none to be right."""
    part = right_part(evidence, place, at)
    return "there are none" if part is None else f"{100 * part:.0f} % are right"
