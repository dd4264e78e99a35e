"""The rest of Q6: is the chosen rule better on partitions that chose nothing?"""

from __future__ import annotations

from dataclasses import replace

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.answers_rules import OTHERS, on_mnist
from fedsemi.evidence.arms import ARMS
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.effects import HEAD, Effect, effect_of
from fedsemi.evidence.layout import titled
from fedsemi.evidence.questions import CHOOSING, CHOSEN, MNIST_SEEDS, QUESTIONS
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.short import SO, Part
from fedsemi.evidence.stopping import WORTH
from fedsemi.evidence.verdict import verdict_of

_SEEDS = {"mnist": MNIST_SEEDS, "svhn": 5, "isic18": 5}
_ELSEWHERE = ("svhn", "isic18")


def confirmed(evidence: Evidence) -> Answer:
    """Judge the rule by what was written down: gains on MNIST, no loss elsewhere."""
    question = QUESTIONS["q6-confirm"].title
    if evidence.source.name == CHOOSING:
        text = "What chose the rule does not judge it."
        return Answer("q6-confirm", question, "not run", (text,), HEAD, (), "")
    gains = on_mnist(evidence, CHOSEN, _SEEDS["mnist"])
    losses = [_elsewhere(evidence, dataset, "uniform") for dataset in _ELSEWHERE]
    more = [_elsewhere(evidence, dataset, "semianagg") for dataset in _ELSEWHERE]
    # What was not run may never be: one difference is enough to speak against a rule.
    deciding = {each.what: each for each in (*gains, *losses) if each.seeds}
    found = of_effects(
        "q6-confirm",
        question,
        deciding,
        [each for each in more if each.seeds],
        f"{ARMS[CHOSEN].title}, which was chosen, − others",
    )
    told = (
        f"{ARMS[CHOSEN].title} was chosen. To be recommended it had to beat equal "
        "shares and SemiAnAgg on MNIST in both cells, and to lose to equal shares "
        f"by more than {WORTH} points neither on SVHN nor on ISIC-18."
    )
    verdict = verdict_of(gains, losses)
    parts = (*found.parts, Part(SO, verdict))
    return replace(found, finding=verdict, text=(told,), parts=parts)


def _elsewhere(evidence: Evidence, dataset: str, other: str) -> Effect:
    ours, theirs = (setting(dataset, arm) for arm in (CHOSEN, other))
    what = f"{ARMS[CHOSEN].title} − {OTHERS[other]}, {titled(dataset)}"
    return effect_of(evidence, what, ours, theirs, _SEEDS[dataset])
