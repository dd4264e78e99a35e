"""Records with numbers that a test can work out by hand."""

from __future__ import annotations

from typing import Any

from fedsemi.asking.curve import NOBODY, Point
from fedsemi.asking.records import Record

CONFIG: dict[str, Any] = {
    "data": {"name": "digits", "image_size": 16, "train_limit": 300},
    "model": {"name": "resnet8", "width": 8},
    "partition": {
        "num_clients": 5,
        "labeled_clients": 1,
        "dirichlet_alpha": 0.8,
    },
    "stages": [
        {"method": "supervised", "rounds": 30},
        {"method": "semianagg", "rounds": 4},
    ],
}


def made(seed: int, labels: int = 60, **percent: float) -> Record:
    """Make a record of balanced accuracies: base=50, random_20=60, ..."""
    record = Record(seed, "key", CONFIG)
    for name, value in percent.items():
        rule, _, budget = name.partition("_")
        arm = (NOBODY, 0) if rule == "base" else (rule, int(budget))
        scores = {"accuracy": 0.5, "balanced_accuracy": value / 100, "auc": None}
        known = labels + arm[1]
        record.points[arm] = Point(*arm, scores, (arm[1], 0), known, 1.0)
    return record


def three_seeds() -> list[Record]:
    """Coverage is ahead by 2, 3 and 4 points; balance by -9, 1 and 8."""
    return [
        made(1, 57, base=50, random_20=60, coverage_20=62, balance_20=51),
        made(2, 60, base=52, random_20=61, coverage_20=64, balance_20=62),
        made(3, 60, base=54, random_20=62, coverage_20=66, balance_20=70),
    ]
