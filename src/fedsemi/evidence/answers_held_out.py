"""The rest of Q4: is a labeled share that held-out labels choose a good one?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from fedsemi.evidence.answer import Answer, of_effects
from fedsemi.evidence.arms import SHARES, USUAL, with_share
from fedsemi.evidence.catalogue import Setting, measure_of, setting
from fedsemi.evidence.effects import GLOBAL, SCORES, Effect, measured, other_metrics
from fedsemi.evidence.layout import titled
from fedsemi.evidence.numbers import short
from fedsemi.evidence.questions import MAIN, MNIST_SEEDS
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.short import Part
from fedsemi.evidence.stats import Paired, paired

PLACES: dict[str, tuple[Mapping[str, object], int]] = {
    "isic18": ({}, 5),
    "mnist": (MAIN, MNIST_SEEDS),
}
"""The partition of each data set, and how many seeds are planned there."""


def by_held_out(evidence: Evidence) -> Answer:
    """Compare the share that held-out labels choose in each seed with one half."""
    effects, beside, costs, said = {}, [], [], []
    for dataset, (partition, planned) in PLACES.items():
        places = {
            share: setting(dataset, f"held-out-share-{share}", **partition)
            for share in SHARES
        }
        chosen = _chosen(evidence, places, dataset)
        whole = {
            share: setting(dataset, with_share(share), **partition) for share in SHARES
        }
        name = titled(dataset)
        compared = partial(_effect, evidence, chosen, planned)
        effects[name] = compared(f"Chosen labeled share − 0.5, {name}", places, places)
        cost = compared(f"Chosen share − 0.5 with all labels, {name}", places, whole)
        if cost.test is not None:
            costs.append(Part("Cost", f"{name}, against all labels {short(cost.test)}"))
        beside += [
            compared(
                f"Chosen share, then all labels − 0.5 with all labels, {name}",
                whole,
                whole,
            ),
            cost,
        ]
        if chosen:
            said.append(_often(name, chosen))
    found = of_effects(
        "q4-held-out",
        "Can the labeled share be set by labels held out at the labeled site?",
        effects,
        beside,
        "Labeled share chosen by held-out labels − 0.5",
        said,
    )
    return replace(found, parts=(*found.parts, *costs))


def _chosen(
    evidence: Evidence, places: Mapping[int, Setting], dataset: str
) -> dict[int, int]:
    """Choose a share for each seed in which all were run; one half of equals."""
    metric = f"held_out.{measure_of(dataset)}"
    found = {share: evidence.scores(place, metric) for share, place in places.items()}
    seeds = set.intersection(*(set(each) for each in found.values()))
    order = sorted(found, key=lambda share: share != USUAL)
    return {
        seed: max(order, key=lambda share: found[share][seed]) for seed in sorted(seeds)
    }


def _effect(
    evidence: Evidence,
    chosen: Mapping[int, int],
    planned: int,
    what: str,
    ours: Mapping[int, Setting],
    usual: Mapping[int, Setting],
) -> Effect:
    """Compare the runs of the chosen shares with those of one half, seed by seed."""
    dataset = usual[USUAL].dataset

    def compare(metric: str) -> Paired | None:
        found = {share: evidence.scores(place, metric) for share, place in ours.items()}
        halves = evidence.scores(usual[USUAL], metric)
        both = {
            seed: found[share][seed]
            for seed, share in chosen.items()
            if seed in found[share] and seed in halves
        }
        other = [halves[seed] for seed in both]
        return paired([*both.values()], other, seeds=[*both]) if both else None

    tests = {score: compare(measured(score, dataset)) for score in SCORES}
    metrics = other_metrics(dataset, GLOBAL, compare)
    return Effect(what, tests, planned, metrics=metrics)


def _often(name: str, chosen: Mapping[int, int]) -> str:
    """Say how often each share was chosen, the most frequent first."""
    times = Counter(chosen.values()).most_common()
    listed = ", ".join(f"{share / 100} in {n}" for share, n in times)
    return f"{name}: of {len(chosen)} seeds held-out labels chose {listed}."
