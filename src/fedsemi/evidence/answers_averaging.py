"""Q8: do unlabeled sites bring more than a mean of the model over rounds does?"""

from __future__ import annotations

from dataclasses import replace

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.interval_plot import interval_plot
from fedsemi.evidence.places import ENCODER, ONE_HOLDER, SVHN, TWO_HOLDERS, effects_at
from fedsemi.evidence.questions import QUESTIONS
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.short import ALSO, Part, doubted, part_of

_PLACES = {"SVHN": SVHN, "MNIST": ONE_HOLDER, **ENCODER}
_CALLED = {
    "uniform": "uniform",
    "semianagg": "SemiAnAgg",
    "labels-on": "labels after the warm-up",
    "lower": "labels only",
    "warm-up": "the warm-up's model",
}


def beyond_averaging(evidence: Evidence) -> Answer:
    """Compare equal shares with labels alone, the running mean deciding.

    What Eq. 4 adds, what training on brings at all, and how the two lower bounds
    differ stand beside it: a lead over a model that got worse is none.
    """
    asked = effects_at(_PLACES, evidence, "uniform", "labels-on", _CALLED)
    both = _PLACES | {"MNIST, 2 holders": TWO_HOLDERS}
    weighed = effects_at(both, evidence, "semianagg", "labels-on", _CALLED)
    trained = effects_at(_PLACES, evidence, "uniform", "warm-up", _CALLED)
    longer = effects_at(_PLACES, evidence, "labels-on", "warm-up", _CALLED)
    bounds = effects_at(_PLACES, evidence, "labels-on", "lower", _CALLED)
    found = of_effects(
        "q8",
        QUESTIONS["q8"].title,
        asked,
        [
            effect
            for some in (weighed, trained, longer, bounds)
            for effect in some.values()
        ],
        "Equal shares and SemiAnAgg − labels alone, from the same warm-up on",
        [
            "The running mean decides here. What is told of SemiAnAgg, of the "
            "warm-up's model and of the two lower bounds was asked when the records "
            "had been seen, which are those of Q1, Q2 and Q10."
        ],
        drawn=[*asked.values(), *weighed.values()],
    )
    parts = [
        doubted(part, "the warm-up's model", trained[where].test)
        for where, part in zip(asked, found.parts, strict=True)
    ]
    eq4 = weighed["MNIST"]
    if eq4.test is not None:
        parts.append(Part(ALSO, part_of(eq4.what, eq4).told))
    begun = [*trained.values(), *longer.values()]
    plots = (*found.plots, *interval_plot(begun, "Against the model of the warm-up"))
    return replace(found, parts=tuple(parts), plots=plots)
