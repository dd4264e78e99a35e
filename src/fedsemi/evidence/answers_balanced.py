"""Q10: is it better to learn pseudo-labels with balanced softmax?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.effects import RUNNING, Effect, effect_of, measured
from fedsemi.evidence.gaps import gap_said
from fedsemi.evidence.layout import titled
from fedsemi.evidence.questions import MAIN, QUESTIONS
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.short import SO, Part
from fedsemi.evidence.verdict import verdict_of

Places = dict[str, tuple[str, Mapping[str, object], int]]
"""Data set, partition and planned seeds of each place, by what it is called."""

_WHOLE: Places = {
    "MNIST, 1 holder": ("mnist", MAIN, 10),
    "MNIST, 2 holders": ("mnist", MAIN | {"rare.holders": 2}, 10),
    "SVHN": ("svhn", {}, 5),
}
"""Where the whole network is trained: it is judged there."""
_EVERY: Places = _WHOLE | {
    f"{titled(name)} on a frozen encoder": (name, {}, 5)
    for name in ("isic18", "cifar100")
}
_CALLED = {
    "uniform-balanced": "balanced",
    "uniform-plain": "plain",
    "semianagg-balanced": "SemiAnAgg, balanced",
    "semianagg-plain": "SemiAnAgg, plain",
    "labels-on": "labels only",
}


def balanced(evidence: Evidence) -> Answer:
    """Judge it by what was written down: gains where all of a network learns."""
    ours = "uniform-balanced"
    gains = _effects(evidence, ours, "uniform-plain", _EVERY)
    more = [
        *_effects(evidence, ours, "labels-on", _EVERY).values(),
        *_effects(evidence, ours, "semianagg-plain", _WHOLE).values(),
        *_effects(evidence, "semianagg-balanced", ours, _EVERY).values(),
    ]
    title = "Balanced softmax on pseudo-labels, equal shares"
    found = of_effects("q10", QUESTIONS["q10"].title, gains, more, title)
    verdict = verdict_of([gains[where] for where in _WHOLE], [])
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


def _effects(
    evidence: Evidence, ours: str, other: str, places: Places
) -> dict[str, Effect]:
    """Compare two arms at each place, the running mean deciding."""
    found = {}
    for where, (dataset, partition, planned) in places.items():
        a, b = (setting(dataset, arm, **partition) for arm in (ours, other))
        what = f"{_CALLED[ours]} − {_CALLED[other]}, {where}"
        what = what[0].upper() + what[1:]
        found[where] = effect_of(evidence, what, a, b, planned, by=RUNNING)
    return found


def _gap(evidence: Evidence) -> str:
    """Say which part of SVHN's gap is closed, by both scores."""
    ours, name = setting("svhn", "uniform-balanced"), "balanced pseudo-labels"
    first = gap_said(evidence, ours, name, "accuracy")
    second = gap_said(evidence, ours, name, measured(RUNNING, "svhn"))
    return f"On SVHN {first}; by the running mean {second}." if first and second else ""
