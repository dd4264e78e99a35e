"""Which comparisons go on until an interval is narrow, as docs/questions.md says."""

from __future__ import annotations

from dataclasses import replace

from fedsemi.evidence.catalogue import Setting, measure_of, setting
from fedsemi.evidence.questions import MAIN
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.stats import Paired

WORTH = 0.5
"""Smallest effect of interest, in points of accuracy."""
_MOST: dict[Setting, tuple[int, tuple[str, ...]]] = {
    setting("isic18", "semianagg"): (20, ("uniform",)),
    setting("mnist", "semianagg", **MAIN): (40, ("uniform", "presence", "permuted")),
    setting("mnist", "semianagg", **MAIN | {"rare.holders": 2}): (40, ("uniform",)),
}
"""To how many seeds SemiAnAgg goes on, against which arms beside it."""


def most_seeds(evidence: Evidence, ours: Setting, other: Setting) -> int:
    """Return the seeds to which a comparison goes on; 0 if it ends as planned.

    It is over when the interval of SemiAnAgg − uniform is narrow.
    """
    most, arms = _MOST.get(ours, (0, ()))
    if other.arm not in arms or other != replace(ours, arm=other.arm):
        return 0
    equal = replace(ours, arm="uniform")
    narrow = _narrow(evidence.paired(ours, equal, measure_of(ours.dataset)))
    return 0 if narrow else most


def _narrow(test: Paired | None) -> bool:
    """Say whether the interval is within ±WORTH of its mean."""
    if test is None or test.low is None or test.high is None:
        return False
    return test.high - test.low <= 2 * WORTH
