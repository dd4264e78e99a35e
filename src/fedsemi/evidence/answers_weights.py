"""Q1 and Q2: SemiAnAgg's shares against equal ones and against class presence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.catalogue import Setting, measure_of, setting
from fedsemi.evidence.effects import Effect, effect_of
from fedsemi.evidence.layout import titled
from fedsemi.evidence.questions import MAIN, QUESTIONS
from fedsemi.evidence.results import Evidence

_SVHN_SEEDS, _ENCODER_SEEDS, _MNIST_SEEDS = 5, 5, 10
_SHORT = {
    "uniform": "uniform",
    "presence": "presence",
    "semianagg-released": "released rule",
    "permuted": "permuted",
    "fedavg-semi": "FedAvg-Semi",
    "lower": "labels only",
    "upper": "all labels",
}


def beats_uniform(evidence: Evidence) -> Answer:
    """Q1: the paper's setting."""
    ours = setting("svhn", "semianagg")
    first, *more = _against(evidence, ours, list(_SHORT), _SVHN_SEEDS)
    return of_effects(
        "q1",
        "Do SemiAnAgg's shares beat equal shares in the paper's setting?",
        {"SVHN": first},
        more,
        "SemiAnAgg − others on SVHN",
        [_gap(evidence, ours)],
    )


def beats_uniform_on_features(evidence: Evidence, dataset: str) -> Answer:
    """Q1 on a frozen encoder, where first of all unlabeled sites must help."""
    ours, name = setting(dataset, "semianagg"), titled(dataset)
    asked, unit = QUESTIONS[f"q1-{dataset}"], measure_of(dataset).replace("_", " ")
    first, *more = _against(evidence, ours, list(_SHORT), _ENCODER_SEEDS)
    equal, labels = (replace(ours, arm=arm) for arm in ("uniform", "lower"))
    helped = effect_of(
        evidence, f"Uniform − labels only, {name}", equal, labels, _ENCODER_SEEDS
    )
    return of_effects(
        asked.name,
        asked.title,
        {"SemiAnAgg − uniform": first, "uniform − labels only": helped},
        more,
        f"SemiAnAgg − others on {name}, in points of {unit}",
        [_gap(evidence, ours), f"Points are of {unit}."],
    )


def diversity_beside_presence(evidence: Evidence) -> Answer:
    """Q2: with and without the anchor, on SVHN and where one site has rare classes."""
    ours, rare = setting("svhn", "semianagg"), setting("mnist", "semianagg", **MAIN)
    (svhn,) = _against(evidence, ours, ["presence"], _SVHN_SEEDS)
    arms = ["presence", "uniform", "semianagg-released", "permuted", "lower", "upper"]
    mnist, *more = _against(evidence, rare, arms, _MNIST_SEEDS)
    return of_effects(
        "q2",
        "Does diversity add anything to class presence?",
        {"SVHN": svhn, "MNIST": mnist},
        more,
        "SemiAnAgg − others, where one MNIST site alone holds five digits",
        [_gap(evidence, rare)],
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


def _gap(evidence: Evidence, ours: Setting) -> str:
    """Say where equal shares stand between the bounds, without which nothing counts."""
    arms = (replace(ours, arm="uniform"), ours.bound("warm-up"), ours.bound("upper"))
    scores = [evidence.scores(each, measure_of(each.dataset)) for each in arms]
    seeds = sorted(set.intersection(*(set(each) for each in scores)))
    if not seeds:
        return ""
    equal, lower, upper = (sum(e[s] for s in seeds) / len(seeds) for e in scores)
    name = f"On {titled(ours.dataset)}"
    over = f"{len(seeds)} seed{'s' if len(seeds) > 1 else ''}"
    if upper <= max(lower, equal):
        return (
            f"{name} the model with all labels ({upper:.1f} %, {over}) is no upper "
            f"bound: uniform weights reach {equal:.1f} %, the warm-up {lower:.1f} %."
        )
    return (
        f"{name} uniform weights close {100 * (equal - lower) / (upper - lower):.0f} % "
        f"of the gap between warm-up ({lower:.1f} %) and all labels ({upper:.1f} %; "
        f"{over})."
    )
