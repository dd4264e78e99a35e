"""Q6: rules that a few wrong pseudo-labels do not move, against Eq. 4 and uniform."""

from __future__ import annotations

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.arms import ARMS
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.effects import Effect, effect_of
from fedsemi.evidence.questions import MAIN, RULES
from fedsemi.evidence.results import Evidence

_SEEDS = 10
_OTHERS = {"semianagg": "SemiAnAgg", "uniform": "uniform"}


def rules(evidence: Evidence) -> Answer:
    """Compare each rule with SemiAnAgg and uniform, with one holder and with two."""
    found = {
        (arm, other, holders): _effect(evidence, arm, other, holders)
        for arm in RULES
        for other in _OTHERS
        for holders in (1, 2)
    }
    ran = {key: each for key, each in found.items() if each.test is not None}
    first = {ARMS[arm].title: found[arm, "semianagg", 1] for arm in RULES}
    deciding = {k: e for k, e in first.items() if e.test is not None}
    if not deciding:
        title = next(iter(first))
        deciding = {title: first[title]}
    more = [each for each in ran.values() if each not in deciding.values()]
    return of_effects(
        "q6",
        "Which rule shares out the unlabeled half best?",
        deciding,
        more,
        "Rules − SemiAnAgg and − uniform",
    )


def _effect(evidence: Evidence, arm: str, other: str, holders: int) -> Effect:
    place = MAIN | {"rare.holders": holders}
    where = f"{holders} holder{'s' if holders > 1 else ''}"
    return effect_of(
        evidence,
        f"{ARMS[arm].title} − {_OTHERS[other]}, {where}",
        setting("mnist", arm, **place),
        setting("mnist", other, **place),
        _SEEDS,
    )
