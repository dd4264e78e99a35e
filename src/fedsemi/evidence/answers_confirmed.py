"""The rest of Q6: is the chosen rule better on partitions that chose nothing?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.arms import ARMS
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.effects import WORTH, Effect, effect_of
from fedsemi.evidence.layout import titled
from fedsemi.evidence.questions import CHOSEN, MAIN, QUESTIONS
from fedsemi.evidence.results import Evidence

_SEEDS = {"mnist": 10, "svhn": 5, "isic18": 5}
_OTHERS = {"uniform": "uniform", "semianagg": "SemiAnAgg"}
RECOMMENDED = "recommended"


def confirmed(evidence: Evidence) -> Answer:
    """Judge the rule by what was written down: gains on MNIST, no loss elsewhere."""
    gains = [
        _effect(evidence, "mnist", other, holders)
        for other in _OTHERS
        for holders in (1, 2)
    ]
    losses = [_effect(evidence, dataset, "uniform") for dataset in ("svhn", "isic18")]
    more = [_effect(evidence, dataset, "semianagg") for dataset in ("svhn", "isic18")]
    deciding = {each.what: each for each in (*gains, *losses)}
    question = QUESTIONS["q6-confirm"].title
    title = f"{ARMS[CHOSEN].title}, which was chosen, − others"
    found = of_effects("q6-confirm", question, deciding, more, title)
    verdict = _verdict(gains, losses)
    told = f"{ARMS[CHOSEN].title}: {verdict}."
    return replace(found, finding=verdict, text=(told, *found.text))


def _effect(
    evidence: Evidence, dataset: str, other: str, holders: int | None = None
) -> Effect:
    place, where = {}, titled(dataset)
    if holders is not None:
        place = MAIN | {"rare.holders": holders}
        where += f", {holders} holder{'s' if holders > 1 else ''}"
    ours, theirs = (setting(dataset, arm, **place) for arm in (CHOSEN, other))
    what = f"{ARMS[CHOSEN].title} − {_OTHERS[other]}, {where}"
    return effect_of(evidence, what, ours, theirs, _SEEDS[dataset])


def _verdict(gains: Sequence[Effect], losses: Sequence[Effect]) -> str:
    """Say whether the rule is recommended, or what is missing, or what speaks against.

    A loss speaks against it if the whole interval does; a wide one says little.
    """
    missing = [each for each in (*gains, *losses) if each.seeds < each.planned]
    failed = [each.what for each in gains if not _above(each)]
    failed += [each.what for each in losses if _below(each)]
    if not any(each.seeds for each in (*gains, *losses)):
        return "not run"
    if missing:
        every = len(gains) + len(losses)
        return f"not judged yet, {len(missing)} of {every} differences lack seeds"
    if failed:
        return f"not recommended, because of {'; '.join(failed)}"
    return RECOMMENDED


def _above(effect: Effect) -> bool:
    test = effect.test
    return test is not None and test.low is not None and test.low > 0


def _below(effect: Effect) -> bool:
    test = effect.test
    return test is not None and test.high is not None and test.high < -WORTH
