"""Differences with their intervals and their seeds, as data for a plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fedsemi.evidence.effects import SCORES, Effect
from fedsemi.evidence.stats import Paired
from fedsemi.evidence.stopping import WORTH

DOTS = "Each small dot is one seed"


def interval_plot(effects: Sequence[Effect], title: str) -> list[dict[str, Any]]:
    """Plot differences with their intervals; nothing if nothing was run."""
    rows = [
        {"name": each.what, "group": name, **with_seeds(test)}
        for each in effects
        for score, name in SCORES.items()
        if (test := each.tests.get(score)) is not None
    ]
    note = (
        f"Lines are 95 % intervals, the band is ±{WORTH}; n is the number of seeds. "
        f"{DOTS}."
    )
    plot = {"kind": "intervals", "title": title, "note": note, "worth": WORTH}
    plot |= {"label": "points", "rows": rows}
    return [plot] if rows else []


def ends(test: Paired) -> dict[str, Any]:
    """Give a plot the mean, the ends of the interval and the number of seeds."""
    low, high = (None if e is None else round(e, 2) for e in (test.low, test.high))
    return {"value": round(test.mean, 2), "low": low, "high": high, "seeds": test.n}


def with_seeds(test: Paired) -> dict[str, Any]:
    """Give it the difference of each seed, too, and the median of several."""
    if test.n == 1:  # the mean is all of it
        return ends(test)
    each = {str(seed): round(value, 2) for seed, value in test.each.items()}
    return {**ends(test), "median": round(test.median, 2), "each": each}
