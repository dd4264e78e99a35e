"""Q10: is it better to learn pseudo-labels with balanced softmax?"""

from __future__ import annotations

from dataclasses import replace

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.effects import RUNNING, Effect, measured
from fedsemi.evidence.gaps import gap_said
from fedsemi.evidence.places import ENCODER, ONE_HOLDER, SVHN, TWO_HOLDERS, effects_at
from fedsemi.evidence.questions import QUESTIONS
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.short import ALSO, SO, Part, part_of
from fedsemi.evidence.verdict import verdict_of

_WHOLE = {
    "MNIST, 1 holder": ONE_HOLDER,
    "MNIST, 2 holders": TWO_HOLDERS,
    "SVHN": SVHN,
}
"""Where the whole network is trained: it is judged there."""
_EVERY = _WHOLE | {f"{name} on a frozen encoder": at for name, at in ENCODER.items()}
_CALLED = {
    "uniform-balanced": "balanced",
    "uniform-plain": "plain",
    "semianagg-balanced": "SemiAnAgg, balanced",
    "semianagg-plain": "SemiAnAgg, plain",
    "labels-on": "labels after the warm-up",
}


def balanced(evidence: Evidence) -> Answer:
    """Judge it by what was written down: gains where all of a network learns."""
    ours = "uniform-balanced"
    gains = effects_at(_EVERY, evidence, ours, "uniform-plain", _CALLED)
    weighed = effects_at(_WHOLE, evidence, ours, "semianagg-plain", _CALLED)
    more = [
        *effects_at(_EVERY, evidence, ours, "labels-on", _CALLED).values(),
        *weighed.values(),
        *effects_at(_EVERY, evidence, "semianagg-balanced", ours, _CALLED).values(),
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
    )
    return replace(
        found,
        finding=verdict,
        text=tuple(each for each in told if each),
        parts=(*found.parts, *_against_weights(weighed["MNIST, 1 holder"]), said),
    )


def _against_weights(effect: Effect) -> tuple[Part, ...]:
    """Tell what README cites, and that nobody had asked for it before."""
    if effect.test is None:
        return ()
    told = f"{part_of(effect.what, effect).told}; asked when MNIST had been seen"
    return (Part(ALSO, told),)


def _gap(evidence: Evidence) -> str:
    """Say which part of SVHN's gap is closed, by both scores."""
    ours, name = setting("svhn", "uniform-balanced"), "balanced pseudo-labels"
    first = gap_said(evidence, ours, name, "accuracy")
    second = gap_said(evidence, ours, name, measured(RUNNING, "svhn"))
    return f"On SVHN {first}; by the running mean {second}." if first and second else ""
