"""Q10: is it better to learn pseudo-labels with balanced softmax?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.effects import RUNNING, Effect, effect_of, measured
from fedsemi.evidence.gaps import gap_said
from fedsemi.evidence.layout import titled
from fedsemi.evidence.questions import FEW_HOLDERS, MAIN, QUESTIONS
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.short import SO, Part
from fedsemi.evidence.verdict import verdict_of

_PLACES: dict[str, tuple[str, Mapping[str, object], int]] = {
    **{
        f"MNIST, {holders} holder{'s' if holders > 1 else ''}": (
            "mnist",
            MAIN | {"rare.holders": holders},
            10,
        )
        for holders in FEW_HOLDERS
    },
    "SVHN": ("svhn", {}, 5),
    **{
        f"{titled(name)} on a frozen encoder": (name, {}, 5)
        for name in ("isic18", "cifar100")
    },
}
"""Data set, partition and planned seeds of each place, by what it is called."""
_JUDGED = ("mnist", "svhn")
"""Where the whole network is trained; on the others its encoder is frozen."""


def balanced(evidence: Evidence) -> Answer:
    """Judge it by what was written down: gains where all of a network learns."""
    gains = _everywhere(evidence, "uniform-balanced", "uniform-plain")
    weights = _everywhere(evidence, "semianagg-balanced", "uniform-balanced")
    labels = _everywhere(evidence, "uniform-balanced", "labels-on")
    found = of_effects(
        "q10",
        QUESTIONS["q10"].title,
        gains,
        [*labels.values(), *weights.values()],
        "Balanced softmax on pseudo-labels, equal shares",
    )
    verdict = verdict_of(
        [each for where, each in gains.items() if _PLACES[where][0] in _JUDGED], []
    )
    said = Part(SO, f"where the whole network is trained, {verdict}")
    told = (
        "The running mean decides here. To be recommended where the whole network is "
        "trained, balanced softmax had to beat cross entropy on MNIST with one and "
        "two holders and on SVHN.",
        _gap(evidence),
        "On ISIC-18 points are of balanced accuracy.",
    )
    return replace(
        found,
        finding=verdict,
        text=tuple(each for each in told if each),
        parts=(*found.parts, said),
    )


_CALLED = {
    "uniform-balanced": "Balanced",
    "uniform-plain": "plain",
    "semianagg-balanced": "SemiAnAgg, balanced",
    "labels-on": "labels only",
}


def _everywhere(evidence: Evidence, ours: str, other: str) -> dict[str, Effect]:
    """Compare two arms at each place, the running mean deciding."""
    found = {}
    for where, (dataset, partition, planned) in _PLACES.items():
        a, b = (setting(dataset, arm, **partition) for arm in (ours, other))
        what = f"{_CALLED[ours]} − {_CALLED[other].lower()}, {where}"
        found[where] = effect_of(evidence, what, a, b, planned, by=RUNNING)
    return found


def _gap(evidence: Evidence) -> str:
    """Say which part of SVHN's gap is closed, by both scores."""
    ours, name = setting("svhn", "uniform-balanced"), "balanced pseudo-labels"
    first = gap_said(evidence, ours, name, "accuracy")
    second = gap_said(evidence, ours, name, measured(RUNNING, "svhn"))
    return f"On SVHN {first}; by the running mean {second}." if first and second else ""
