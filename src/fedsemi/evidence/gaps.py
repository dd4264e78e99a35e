"""How much of the gap between the bounds an arm closes, in words."""

from __future__ import annotations

from statistics import fmean

from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.stats import gap_closed


def gap_said(evidence: Evidence, ours: Setting, name: str, metric: str) -> str:
    """Say where an arm stands between the bounds, without which nothing counts.

    Args:
        evidence: The records.
        ours: The arm; only seeds that the bounds have as well are counted.
        name: What it is called, in the plural.
        metric: The score.
    """
    arms = (ours, ours.bound("warm-up"), ours.bound("upper"))
    scores = [evidence.scores(each, metric) for each in arms]
    seeds = sorted(set.intersection(*(set(each) for each in scores)))
    if not seeds:
        return ""
    reached, lower, upper = (fmean(each[s] for s in seeds) for each in scores)
    over = f"{len(seeds)} seed{'s' if len(seeds) > 1 else ''}"
    closed = gap_closed(reached, lower, upper)
    if closed is None or closed > 1:
        return (
            f"the model with all labels ({upper:.1f} %, {over}) is no upper bound: "
            f"{name} reach {reached:.1f} %, the warm-up {lower:.1f} %"
        )
    if closed < 0:
        return (
            f"{name} ({reached:.1f} %) are below the warm-up ({lower:.1f} %; "
            f"all labels {upper:.1f} %, {over})"
        )
    return (
        f"{name} close {100 * closed:.0f} % of the gap between warm-up "
        f"({lower:.1f} %) and all labels ({upper:.1f} %; {over})"
    )
