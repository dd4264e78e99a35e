"""Q11: is it the second choice that ruins CBAFed where every site has a few labels?"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.catalogue import setting
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
        [*_told(evidence), "Points are of balanced accuracy."],
    )


def _effect(evidence: Evidence, ours: str, other: str) -> Effect:
    a, b = (setting("isic18", arm, **FEW_LABELS) for arm in (ours, other))
    what = f"{_CALLED[ours]} − {_CALLED[other]}, ISIC-18"
    return effect_of(evidence, what, a, b, _SEEDS)


def _told(evidence: Evidence) -> Iterator[str]:
    """Say of both how accurate the model is, and how right it labels."""
    for arm in ("cbafed", "cbafed-first-choice"):
        place = setting("isic18", arm, **FEW_LABELS)
        scores = evidence.scores(place, "accuracy")
        parts = [right_part(evidence, place, at) for at in (FIRST, LAST)]
        if not scores or None in parts:
            continue
        first, last = (f"{100 * part:.0f} %" for part in parts if part is not None)
        yield (
            f"{_CALLED[arm]}: accuracy {fmean(scores.values()):.1f} %; in its first "
            f"round {first} of its pseudo-labels are right, in its last {last}."
        )
