"""The same two arms compared at several places, by the running mean first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.effects import RUNNING, Effect, effect_of
from fedsemi.evidence.layout import titled
from fedsemi.evidence.questions import MAIN, MNIST_SEEDS
from fedsemi.evidence.results import Evidence


@dataclass(frozen=True)
class Place:
    """Where arms are compared: a data set, who has what, and the planned seeds."""

    dataset: str
    partition: Mapping[str, Any] = field(default_factory=dict)
    planned: int = 5


ONE_HOLDER = Place("mnist", MAIN, MNIST_SEEDS)
TWO_HOLDERS = Place("mnist", MAIN | {"rare.holders": 2}, MNIST_SEEDS)
SVHN = Place("svhn")
ENCODER = {titled(name): Place(name) for name in ("isic18", "cifar100")}
"""Where the encoder is frozen."""


def effects_at(
    places: Mapping[str, Place],
    evidence: Evidence,
    ours: str,
    other: str,
    called: Mapping[str, str],
) -> dict[str, Effect]:
    """Compare two arms at each place, the running mean deciding.

    Args:
        places: By what they are called.
        evidence: The records.
        ours: An arm.
        other: What it is compared with.
        called: What arms are called.
    """
    found = {}
    for where, at in places.items():
        a, b = (setting(at.dataset, arm, **at.partition) for arm in (ours, other))
        what = f"{called[ours]} − {called[other]}, {where}"
        what = what[0].upper() + what[1:]
        found[where] = effect_of(evidence, what, a, b, at.planned, by=RUNNING)
    return found
