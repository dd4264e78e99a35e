"""Q4: does the labeled share matter more than the weights?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.arms import ARMS
from fedsemi.evidence.catalogue import Setting, measure_of, setting
from fedsemi.evidence.effects import Effect, effect_of, said_of, table_of
from fedsemi.evidence.interval_plot import interval_plot
from fedsemi.evidence.layout import titled
from fedsemi.evidence.numbers import interval
from fedsemi.evidence.questions import MAIN, MNIST_SEEDS
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.short import ALSO, OPEN, Part, part_of
from fedsemi.evidence.stats import Paired, paired

_ARMS = ("uniform-share-70", "uniform-share-30", "uniform-share-15")
_PLACES: dict[str, tuple[Mapping[str, Any], int]] = {
    "svhn": ({}, 5),
    "isic18": ({}, 5),
    "mnist": (MAIN, MNIST_SEEDS),
}
"""The partition of each data set, and how many seeds are planned there."""


def labeled_share(evidence: Evidence) -> Answer:
    """Q4: other labeled shares, against the weights."""
    every: list[Effect] = []
    said, findings, parts = [], [], []
    for dataset, (partition, planned) in _PLACES.items():
        name = titled(dataset)
        base, weights, *others = (
            setting(dataset, arm, **partition)
            for arm in ("uniform", "semianagg", *_ARMS)
        )
        shares = {
            other: effect_of(evidence, f"{_share(other)}, {name}", other, base, planned)
            for other in others
        }
        what = f"SemiAnAgg − uniform, {name}"
        best = f"Labeled share {_share_of(others[0])} − SemiAnAgg, {name}"
        beside = effect_of(evidence, best, others[0], weights, planned)
        every += [*shares.values(), effect_of(evidence, what, weights, base, planned)]
        every.append(beside)
        text, found, part = _against_weights(evidence, shares, weights, base)
        said.append(text)
        parts.append(part)
        if beside.test is not None:
            parts.append(Part(ALSO, part_of(best, beside).told))
        findings.append(f"{name}: {found}")
    return Answer(
        "q4",
        "Does the labeled share matter more than the weights?",
        "; ".join(findings),
        (" ".join(said),),
        *table_of(every),
        f"{said_of(every)} Sizes are compared in the direction of each mean, seed by "
        "seed, with an interval that is widened since any share in either direction "
        "could have been the largest (Bonferroni). What the highest share brings, less "
        "what the weights do, was asked when the records had been seen.",
        tuple(interval_plot(every, "Labeled shares and weights")),
        tuple(parts),
    )


def _largest_of(changes: int) -> str:
    return f"the largest of {changes} changes" if changes > 1 else "the only change"


def _share(other: Setting) -> str:
    return f"Labeled share {_share_of(other)} − 0.5"


def _share_of(other: Setting) -> str:
    return ARMS[other.arm].title.rsplit(" ", 1)[1]


def _against_weights(
    evidence: Evidence,
    shares: Mapping[Setting, Effect],
    weights: Setting,
    base: Setting,
) -> tuple[str, str, Part]:
    """Say whether the share that changes most changes more than the weights do."""
    name = titled(base.dataset)
    none = "not run", Part(OPEN, f"{name} not run", f"{name} not run")
    ran = {s: e.test for s, e in shares.items() if e.test is not None}
    if not ran:
        return f"{name}: no other labeled share was run yet.", *none
    most = max(ran, key=lambda each: abs(ran[each].mean))
    effect = shares[most]
    # Any of the shares, in either direction, could have been the largest.
    test = _sizes(evidence, most, weights, base, chances=2 * len(ran))
    if test is None:
        return f"{effect.sentence} SemiAnAgg has no run beside it.", *none
    larger = Effect("", {"accuracy": test}, effect.planned)
    ends = "" if test.low is None else f"95 % interval {interval(test)}, "
    relation = "larger" if test.mean >= 0 else "smaller"
    side = "above zero" if test.mean >= 0 else "below zero"
    finding = larger.finding.replace(side, relation)
    text = (
        f"{effect.sentence} This is {_largest_of(len(ran))}, and "
        f"{abs(test.mean):.2f} points {relation} in size than SemiAnAgg − uniform "
        f"({ends}{larger.progress}): {finding}."
    )
    change = f"{'costs' if ran[most].mean < 0 else 'brings'} {abs(ran[most].mean):.2f}"
    told = (
        f"{name}, a labeled share of {_share_of(most)} {change} points; its size less "
        "that of the weights"
    )
    return text, finding, part_of(told, larger)


def _sizes(
    evidence: Evidence, share: Setting, weights: Setting, base: Setting, chances: int
) -> Paired | None:
    """Test whether one change is larger in size than another, seed by seed."""
    metric = measure_of(base.dataset)
    a, b, zero = (evidence.scores(s, metric) for s in (share, weights, base))
    seeds = sorted(a.keys() & b.keys() & zero.keys())
    if not seeds:
        return None
    ours, theirs = ([each[s] - zero[s] for s in seeds] for each in (a, b))
    return paired(_upright(ours), _upright(theirs), chances, seeds)


def _upright(changes: Sequence[float]) -> list[float]:
    """Turn changes so that their mean is above zero."""
    sign = 1 if sum(changes) >= 0 else -1
    return [sign * change for change in changes]
