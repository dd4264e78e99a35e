"""Q1 and Q2: SemiAnAgg's shares against equal ones and against class presence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.catalogue import Setting, measure_of, setting
from fedsemi.evidence.effects import Effect, effect_of
from fedsemi.evidence.gaps import gap_said
from fedsemi.evidence.layout import titled
from fedsemi.evidence.questions import MAIN, MNIST_SEEDS, QUESTIONS
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.shares import (
    apart_sentence,
    by_size_sentence,
    moved_reach,
    moved_sentence,
)
from fedsemi.evidence.short import parts_of

PLACES = {
    "q1": "svhn",
    "q1-isic18": "isic18",
    "q1-cifar100": "cifar100",
    "q1-cifar100-lt": "cifar100-lt",
}
"""Where the first question is asked, by the name of its artifact."""
_SEEDS = 5
_ALL_SEEDS = {"q1": 20}
"""Of SemiAnAgg and equal shares on SVHN: a number that no interval has a part in."""
_SHORT = {
    "uniform": "uniform",
    "presence": "presence",
    "semianagg-released": "released rule",
    "permuted": "permuted",
    "fedavg-semi": "FedAvg-Semi",
    "lower": "labels only",
    "upper": "all labels",
}


def beats_uniform(name: str, evidence: Evidence) -> Answer:
    """Q1 on a data set.

    Whether unlabeled sites help at all stands beside it: without that, how they are
    weighed means little.
    """
    asked, dataset = QUESTIONS[name], PLACES[name]
    ours, unit = setting(dataset, "semianagg"), measure_of(dataset).replace("_", " ")
    equal, *others = _SHORT
    (first,) = _against(evidence, ours, [equal], _ALL_SEEDS.get(name, _SEEDS))
    more = _against(evidence, ours, others, _SEEDS)
    found = of_effects(
        name,
        asked.title,
        {
            "SemiAnAgg − uniform": first,
            "uniform − labels only": _helped(evidence, ours, _SEEDS),
        },
        more,
        f"SemiAnAgg − others on {titled(dataset)}, in points of {unit}",
        _setting(evidence, ours),
    )
    where = titled(dataset) + (" on a frozen encoder" if name != "q1" else "")
    (part,) = parts_of({where: first})
    if weight := moved_reach(evidence, ours):
        part = replace(part, told=f"{part.told}, {weight} of the weight moved")
    return replace(found, parts=(part,))


def diversity_beside_presence(evidence: Evidence) -> Answer:
    """Q2: with and without the anchor, on SVHN and where one site has rare classes."""
    svhn_at, rare = setting("svhn", "semianagg"), setting("mnist", "semianagg", **MAIN)
    (svhn,) = _against(evidence, svhn_at, ["presence"], _SEEDS)
    arms = ["presence", "uniform", "semianagg-released", "permuted", "lower", "upper"]
    mnist, *more = _against(evidence, rare, arms, MNIST_SEEDS)
    return of_effects(
        "q2",
        "Does diversity add anything to class presence?",
        {"SVHN": svhn, "MNIST": mnist},
        [*more, _helped(evidence, rare, MNIST_SEEDS)],
        "SemiAnAgg − others; on MNIST one site alone holds five digits",
        [
            *_setting(evidence, rare),
            *(
                apart_sentence(evidence, at, replace(at, arm="presence"))
                for at in (rare, svhn_at)
            ),
            by_size_sentence(evidence, rare),
        ],
    )


def _against(
    evidence: Evidence, ours: Setting, arms: Sequence[str], planned: int
) -> list[Effect]:
    """Compare SemiAnAgg with other arms beside it."""
    return [
        effect_of(
            evidence,
            f"SemiAnAgg − {_SHORT[arm]}, {titled(ours.dataset)}",
            ours,
            ours.bound(arm) if arm == "upper" else replace(ours, arm=arm),
            planned,
        )
        for arm in arms
    ]


def _helped(evidence: Evidence, ours: Setting, planned: int) -> Effect:
    """Compare equal shares with labels alone for as many rounds."""
    equal, labels = (replace(ours, arm=arm) for arm in ("uniform", "lower"))
    what = f"Uniform − labels only, {titled(ours.dataset)}"
    return effect_of(evidence, what, equal, labels, planned)


def _setting(evidence: Evidence, ours: Setting) -> list[str]:
    """Say what a reader must know of a tie or of a lead: shares, and bounds."""
    metric, name = measure_of(ours.dataset), titled(ours.dataset)
    equal = replace(ours, arm="uniform"), "uniform weights"
    gap = gap_said(evidence, *equal, metric)
    second = gap_said(evidence, *equal, f"running_mean.{metric}")
    said = f"On {name} {gap}" if gap else ""
    if gap and second:
        said += f"; by the running mean {second}"
    return [moved_sentence(evidence, ours), said and f"{said}."]
