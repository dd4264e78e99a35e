"""Q3, the dose: how much weight does a site need that alone holds classes?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.arms import ARMS
from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.effects import SCORES, Effect, effect_of, said_of, table_of
from fedsemi.evidence.interval_plot import interval_plot
from fedsemi.evidence.numbers import points
from fedsemi.evidence.questions import MNIST_SEEDS, QUESTIONS
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.shares import lonely_share

_ENOUGH = 5
"""Seeds that all doses share, below which a curve would show noise."""


def dose(evidence: Evidence) -> Answer:
    """Compare powers of presence with equal shares, each on the seeds that it has."""
    places = {_power(each.arm): each for each in QUESTIONS["q3-dose"].settings}
    effects = {
        power: effect_of(
            evidence,
            f"presence to the power {power} − uniform",
            each,
            base,
            MNIST_SEEDS,
        )
        for base in [places["0"]]
        for power, each in places.items()
        if each != base
    }
    ran = {power: each for power, each in effects.items() if each.test is not None}
    every = list(effects.values())
    missing = f"No dose was run yet (0 of {MNIST_SEEDS} seeds so far)."
    return Answer(
        "q3-dose",
        "How much weight does a site need that alone holds classes?",
        "; ".join(f"power {k}: {each.finding}" for k, each in ran.items()) or "not run",
        tuple(_said(ran, _shares(evidence, places))) if ran else (missing,),
        *table_of(every),
        f"{said_of(every)} Rows may have different seeds. The power 0 is uniform "
        "weights, 1 is class presence.",
        (
            *_curves(evidence, places),
            *interval_plot(every, "Against equal shares"),
        ),
    )


def _power(arm: str) -> str:
    if arm == "uniform":
        return "0"
    return f"{ARMS[arm].steps[-1].settings.get('sharpness', 1.0):g}"


def _shares(evidence: Evidence, places: Mapping[str, Setting]) -> dict[str, float]:
    """Average what the lonely site gets, on the seeds that all doses share."""
    found = {power: evidence.found(each) for power, each in places.items()}
    shared = set.intersection(*(set(records) for records in found.values()))
    if not shared:
        return {}
    return {
        power: fmean(lonely_share(records[seed]) for seed in shared)
        for power, records in found.items()
    }


def _said(ran: Mapping[str, Effect], shares: Mapping[str, float]) -> Iterator[str]:
    gains = [
        f"power {power}: {points(each.test, each.progress)}, {each.finding}"
        for power, each in ran.items()
        if each.test
    ]
    yield f"Presence to a power − uniform: {'; '.join(gains)}."
    if shares:
        told = [f"power {power}: {share:.3f}" for power, share in shares.items()]
        yield f"Mean share of the lonely site by power: {'; '.join(told)}."


def _curves(evidence: Evidence, places: Mapping[str, Setting]) -> Iterator[Any]:
    """Draw accuracy against the share, by both scores, on seeds that all doses have."""
    shares = _shares(evidence, places)
    for score, name in SCORES.items():
        found = {power: evidence.scores(each, score) for power, each in places.items()}
        shared = set.intersection(*(set(values) for values in found.values()))
        if len(shared) < _ENOUGH:
            continue
        yield {
            "kind": "dose",
            "title": f"Accuracy against the share of the lonely site, {name}",
            "note": f"Means over the {len(shared)} seeds that all powers of presence "
            "have (0 is uniform), in percent; the intervals of the differences are "
            "below.",
            "label": "share of the whole mean that the lonely site gets",
            "points": [
                {
                    "name": power,
                    "x": round(shares[power], 4),
                    "y": round(fmean(values[seed] for seed in shared), 2),
                }
                for power, values in found.items()
            ],
        }
