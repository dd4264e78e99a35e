"""Records made by hand."""

from __future__ import annotations

from typing import Any

from fedsemi.leakage.lab import Cell, Question, Scale
from fedsemi.leakage.records import Record


def cell(question: Question, form: str, value: float, **more: Any) -> Cell:
    baseline = more.pop("baseline", 0.6 if question == "shares" else 0.5)
    thing = more.pop("thing", "model")
    return Cell(
        question, "unlabeled", thing, form, value, baseline, "linear, head bias", **more
    )


def record(seed: int, *cells: Cell, method: str = "semianagg") -> Record:
    config = {
        "data": {"name": "digits", "train_limit": 400},
        "model": {"name": "resnet8", "width": 4},
        "partition": {"num_clients": 12, "dirichlet_alpha": 0.3},
        "stages": [{"rounds": 30}, {"rounds": 2}],
    }
    return Record(method, seed, "key", Scale(), config, cells)


def two_seeds() -> list[Record]:
    """The model tells all, a sum over ten sites nothing that two seeds could show."""
    r = "statistics.diversity"
    return [
        record(
            seed,
            cell("classes", "plain", 0.9 + d),
            cell("classes", "sum of 3", 0.7 + d),
            cell("classes", "sum of 10", 0.55 + 10 * d),
            cell("classes", "noise", 0.5 - d),
            cell("classes", "plain", 0.8 + d, thing=r),
            cell("classes", "presence", 0.78 + d, thing=r),
            cell("shares", "plain", 0.2 + d),
            cell("membership", "plain", 0.55 + d / 10, caught=0.02, outside=600),
        )
        for seed, d in ((1, 0.01), (2, -0.01))
    ]
