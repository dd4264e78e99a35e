"""Q8: do unlabeled sites bring more than a mean of the model over rounds does?"""

from __future__ import annotations

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.effects import RUNNING, Effect, effect_of
from fedsemi.evidence.layout import titled
from fedsemi.evidence.questions import MAIN, QUESTIONS
from fedsemi.evidence.results import Evidence

_SEEDS = {"svhn": 5, "mnist": 10, "isic18": 5, "cifar100": 5}


def beyond_averaging(evidence: Evidence) -> Answer:
    """Compare equal shares with labels alone, the running mean deciding."""
    return of_effects(
        "q8",
        QUESTIONS["q8"].title,
        {titled(dataset): _effect(evidence, dataset) for dataset in _SEEDS},
        [],
        "Uniform − labels only after the same warm-up",
        ["The running mean decides here. On ISIC-18 points are of balanced accuracy."],
    )


def _effect(evidence: Evidence, dataset: str) -> Effect:
    partition = MAIN if dataset == "mnist" else {}
    equal, labels = (
        setting(dataset, arm, **partition) for arm in ("uniform", "labels-on")
    )
    what = f"Uniform − labels only, {titled(dataset)}"
    return effect_of(evidence, what, equal, labels, _SEEDS[dataset], by=RUNNING)
