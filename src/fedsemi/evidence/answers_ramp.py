"""Q4 once more: does a labeled share that moves do better than one half?"""

from __future__ import annotations

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.answers_held_out import PLACES
from fedsemi.evidence.arms import USUAL, with_share
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.effects import Effect, effect_of
from fedsemi.evidence.layout import titled
from fedsemi.evidence.questions import QUESTIONS
from fedsemi.evidence.results import Evidence


def ramp(evidence: Evidence) -> Answer:
    """Compare a share that falls with one half.

    One that rises stands beside it, and so do the shares at which both end: most of
    the rounds that are scored lie there.
    """
    return of_effects(
        "q4-ramp",
        QUESTIONS["q4-ramp"].title,
        {titled(place): _effect(evidence, place, "falling") for place in PLACES},
        [
            _effect(evidence, place, way, share)
            for place in PLACES
            for way, share in (("rising", USUAL), ("falling", 30), ("rising", 70))
        ],
        "Moving labeled share − 0.5",
    )


def _effect(evidence: Evidence, dataset: str, way: str, share: int = USUAL) -> Effect:
    partition, planned = PLACES[dataset]
    what = f"{way.capitalize()} labeled share − {share / 100}, {titled(dataset)}"
    moving, still = (
        setting(dataset, arm, **partition)
        for arm in (f"uniform-share-{way}", with_share(share))
    )
    return effect_of(evidence, what, moving, still, planned)
