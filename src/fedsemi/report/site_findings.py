"""What deployed sites found on images that they hold out, as far as they tell.

A site sends counts by class and by bin of confidence. From these follow recall,
balanced accuracy and the calibration error, all with what they rest on. An area or a
threshold needs the images: `fedsemi evaluate` at the site shows them there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from fedsemi.client.resampling import (
    MOST_DRAWS,
    Interval,
    between,
    wilson,
    without_certainty,
)
from fedsemi.client.subgroups import FEWEST
from fedsemi.runs.records import ClientRecord

_NAMED = re.compile(r"held_out_(class_count|class_right|bin_gap)_(\d+)")


def found_by_sites(
    clients: Mapping[int, ClientRecord], class_names: Sequence[str]
) -> dict[str, Any]:
    """Say what each site found in a round; empty if none told anything."""
    found = {id: _counts(client.metrics) for id, client in clients.items()}
    return {
        str(id): _site(counts, class_names)
        for id, counts in found.items()
        if counts["class_count"]
    }


def _counts(metrics: Mapping[str, float]) -> dict[str, dict[int, float]]:
    counts: dict[str, dict[int, float]] = {
        name: {} for name in ("class_count", "class_right", "bin_gap")
    }
    for name, value in metrics.items():
        if match := _NAMED.fullmatch(name):
            counts[match[1]][int(match[2])] = value
    return counts


def _site(
    counts: Mapping[str, Mapping[int, float]], names: Sequence[str]
) -> dict[str, Any]:
    count, right = counts["class_count"], counts["class_right"]
    num = round(sum(count.values()))
    if num < FEWEST:
        return {"num": num}
    pairs = {c: (right.get(c, 0.0), count[c]) for c in sorted(count)}
    return {
        "num": num,
        "scores": {
            "num": num,
            "num_patients": None,
            "num_draws": MOST_DRAWS,
            "missing": [name for c, name in enumerate(names) if c not in count],
            "accuracy": asdict(wilson(sum(r for r, _ in pairs.values()), num)),
            "balanced_accuracy": asdict(_balanced(list(pairs.values()))),
            "auc": None,
        },
        "calibration_error": sum(map(abs, counts["bin_gap"].values())) / num,
        "classes": [
            {
                "name": name,
                "num": round(count.get(c, 0)),
                "recall": asdict(wilson(*pairs[c])) if c in pairs else None,
            }
            for c, name in enumerate(names)
        ],
    }


def _balanced(pairs: Sequence[tuple[float, float]]) -> Interval:
    """Draw the images of each class again: hits are then binomial."""
    rng = np.random.default_rng(0)
    drawn = [
        without_certainty(
            right / count,
            rng.binomial(round(count), right / count, MOST_DRAWS) / count,
            round(count),
            seed,
        )
        for seed, (right, count) in enumerate(pairs)
    ]
    value = float(np.mean([right / count for right, count in pairs]))
    return between(value, np.mean(drawn, axis=0))
