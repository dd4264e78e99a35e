"""Q9: is it better that sites with labels learn after the others, not beside them?"""

from __future__ import annotations

from dataclasses import replace

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.catalogue import Setting, setting
from fedsemi.evidence.effects import RUNNING, Effect, effect_of, measured
from fedsemi.evidence.gaps import gap_said
from fedsemi.evidence.layout import titled
from fedsemi.evidence.questions import MAIN, MNIST_SEEDS, QUESTIONS
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.short import ALSO, SO, Part, part_of, parts_of
from fedsemi.evidence.verdict import verdict_of

_SEEDS = {"svhn": 5, "mnist": MNIST_SEEDS, "isic18": 5, "cifar100": 5}
_FROM_NOTHING = ("svhn", "mnist")
"""Where the whole network is trained; on the others its encoder is frozen."""
_OTHERS = {
    "uniform": "uniform",
    "labels-on-5": "labels after the warm-up, five epochs",
}


def by_turns(evidence: Evidence) -> Answer:
    """Judge SemiFL by what was written down: gains where all of a network learns."""
    effects = {
        (dataset, other): _effect(evidence, dataset, other)
        for dataset in _SEEDS
        for other in _OTHERS
    }
    gains = [each for (name, _), each in effects.items() if name in _FROM_NOTHING]
    beside = [each for each in effects.values() if each not in gains]
    labels = _labels_beside_weights(evidence)
    found = of_effects(
        "q9",
        QUESTIONS["q9"].title,
        {each.what: each for each in gains},
        [*beside, labels],
        "SemiFL − uniform and labels alone; on MNIST one site alone holds five digits",
        drawn=[*gains, *beside],
    )
    told = (
        "The running mean decides here. To be recommended where the whole network is "
        "trained, SemiFL had to beat equal shares and labels alone with five epochs "
        "a round, on SVHN and on MNIST. Labels alone less SemiAnAgg was asked when the "
        "records had been seen.",
        _gap(evidence),
    )
    text = tuple(each for each in told if each)
    verdict = verdict_of(gains, [])
    encoder = {f"{each.what} on a frozen encoder": each for each in beside}
    said = Part(SO, f"where the whole network is trained, {verdict}")
    also = (
        () if labels.test is None else (Part(ALSO, part_of(labels.what, labels).told),)
    )
    parts = (*found.parts, *parts_of(encoder), *also, said)
    return replace(found, finding=verdict, text=text, parts=parts)


def _setting(dataset: str, arm: str) -> Setting:
    return setting(dataset, arm, **(MAIN if dataset == "mnist" else {}))


def _effect(evidence: Evidence, dataset: str, other: str) -> Effect:
    ours, theirs = _setting(dataset, "semifl"), _setting(dataset, other)
    what = f"SemiFL − {_OTHERS[other]}, {titled(dataset)}"
    return effect_of(evidence, what, ours, theirs, _SEEDS[dataset], by=RUNNING)


def _labels_beside_weights(evidence: Evidence) -> Effect:
    """Compare labels alone with SemiAnAgg where its weights matter most."""
    ours, theirs = _setting("mnist", "labels-on-5"), _setting("mnist", "semianagg")
    what = "Labels after the warm-up, five epochs − SemiAnAgg, MNIST"
    return effect_of(evidence, what, ours, theirs, _SEEDS["mnist"], by=RUNNING)


def _gap(evidence: Evidence) -> str:
    """Say which part of SVHN's gap is closed, by the score that decides."""
    ours = _setting("svhn", "semifl")
    gap = gap_said(evidence, ours, "SemiFL's turns", measured(RUNNING, "svhn"))
    return gap and f"On SVHN, by the running mean, {gap}."
