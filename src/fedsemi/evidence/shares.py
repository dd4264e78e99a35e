"""What records say of shares: how far from equal, and what a lonely site got."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from fedsemi.evidence.catalogue import Setting, measure_of
from fedsemi.evidence.layout import titled
from fedsemi.evidence.records import Record
from fedsemi.evidence.results import Evidence

_LABELED = "0"
"""The labeled site, where it is the only one."""


def moved(record: Record) -> float | None:
    """Return the part of the mean that shares move away from equal ones, by rounds.

    As `fedsemi audit-weights` says it, for unlabeled sites. None if no site has a
    share, as under labels alone.
    """
    rounds = zip(*record["clients"]["contribution"].values(), strict=True)
    parts = []
    for shares in rounds:
        there = [share for share in shares if share is not None]
        if there:
            parts.append(sum(abs(share - fmean(there)) for share in there) / 2)
    return fmean(parts) if parts else None


def moved_sentence(evidence: Evidence, ours: Setting, where: str = "") -> str:
    """Say how far SemiAnAgg's shares are from equal ones; nothing before a run.

    Without this a tie could mean that weights do not matter or that there are none.
    """
    parts = _all_moved(evidence, ours)
    if not parts:
        return ""
    place = f"{titled(ours.dataset)}{f', {where}' if where else ''}"
    return (
        f"SemiAnAgg gives {_reach(parts)} of the whole weight to other sites than "
        f"equal shares would, on {place} ({_seeds(parts)})."
    )


def moved_reach(evidence: Evidence, ours: Setting) -> str:
    """Write how much of the weight is elsewhere than under equal shares, over seeds."""
    parts = _all_moved(evidence, ours)
    return _reach(parts) if parts else ""


def _all_moved(evidence: Evidence, ours: Setting) -> list[float]:
    found = [moved(record) for record in evidence.found(ours).values()]
    return sorted(100 * part for part in found if part is not None)


def apart(record: Record, other: Record) -> float | None:
    """Return the part of the mean that two runs give to different sites, by rounds."""
    ours, theirs = (each["clients"]["contribution"] for each in (record, other))
    sites = [zip(ours[id], theirs[id], strict=True) for id in ours]
    parts = [
        sum(abs((a or 0.0) - (b or 0.0)) for a, b in shares) / 2
        for shares in zip(*sites, strict=True)
    ]
    return fmean(parts) if parts else None


def apart_sentence(evidence: Evidence, ours: Setting, other: Setting) -> str:
    """Say how far two rules' shares are apart; nothing before both were run.

    What is hardly apart cannot make models differ, whatever the rules say.
    """
    found, others = evidence.found(ours), evidence.found(other)
    each = [apart(found[seed], others[seed]) for seed in found.keys() & others.keys()]
    parts = sorted(100 * part for part in each if part is not None)
    if not parts:
        return ""
    return (
        f"The shares of SemiAnAgg and of {other.arm} differ by {_reach(parts)} of the "
        f"whole weight, on {titled(ours.dataset)} ({_seeds(parts)})."
    )


def _reach(parts: Sequence[float]) -> str:
    """Write the lowest and the highest of sorted percentages."""
    low, high = f"{parts[0]:.1f}", f"{parts[-1]:.1f}"
    return f"{high} %" if low == high else f"{low} to {high} %"


def _seeds(parts: Sequence[float]) -> str:
    return f"{len(parts)} seed{'s' if len(parts) > 1 else ''}"


def by_size_sentence(evidence: Evidence, place: Setting) -> str:
    """Say why all labels bound nothing, where equal shares are above them."""
    equal, upper = replace(place, arm="uniform"), place.bound("upper")
    test = evidence.paired(equal, upper, measure_of(place.dataset))
    if test is None or test.mean <= 0:
        return ""
    shares = [
        record["clients"]["mean_contribution"][_LABELED]
        for record in evidence.found(upper).values()
    ]
    return (
        "With all labels sites count by their images, so the one that has all digits "
        f"has {100 * fmean(shares):.0f} % of the mean, which methods give one half, "
        "and the others each lack half of the digits: that is no bound here."
    )


def lonely_share(record: Record) -> float:
    """Return the mean share of the site that alone holds some class."""
    share: float = record["clients"]["mean_contribution"][lonely_site(record["owns"])]
    return share


def lonely_site(owns: Mapping[str, Mapping[str, Any]]) -> str:
    """Find the unlabeled site that holds most images of classes nobody else has."""
    counts = {
        id: own["class_count"] for id, own in owns.items() if own["num_unlabeled"]
    }
    totals = [sum(column) for column in zip(*counts.values(), strict=True)]

    def alone(id: str) -> int:
        pairs = zip(counts[id], totals, strict=True)
        return sum(own for own, total in pairs if own == total)

    return max(counts, key=alone)
