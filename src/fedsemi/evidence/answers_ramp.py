"""Q4 once more: does a labeled share that moves do better than one half?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.effects import Effect, effect_of
from fedsemi.evidence.layout import titled
from fedsemi.evidence.questions import MAIN, QUESTIONS
from fedsemi.evidence.results import Evidence

_PLACES: dict[str, tuple[Mapping[str, Any], int]] = {
    "isic18": ({}, 5),
    "mnist": (MAIN, 10),
}
"""The partition of each data set, and how many seeds are planned there."""


def ramp(evidence: Evidence) -> Answer:
    """Compare a share that falls with one half.

    One that rises stands beside it, and so do the shares at which both end: most of
    the rounds that are scored lie there.
    """
    return of_effects(
        "q4-ramp",
        QUESTIONS["q4-ramp"].title,
        {titled(place): _effect(evidence, place, "falling") for place in _PLACES},
        [
            _effect(evidence, place, way, end)
            for place in _PLACES
            for way, end in (("rising", None), ("falling", 30), ("rising", 70))
        ],
        "Moving labeled share − 0.5",
        ["On ISIC-18 points are of balanced accuracy."],
    )


def _effect(
    evidence: Evidence, dataset: str, way: str, end: int | None = None
) -> Effect:
    partition, planned = _PLACES[dataset]
    constant = "uniform" if end is None else f"uniform-share-{end}"
    share = 0.5 if end is None else end / 100
    what = f"{way.capitalize()} labeled share − {share}, {titled(dataset)}"
    moving, still = (
        setting(dataset, arm, **partition) for arm in (f"uniform-share-{way}", constant)
    )
    return effect_of(evidence, what, moving, still, planned)
