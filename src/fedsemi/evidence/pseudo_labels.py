"""Which part of the pseudo-labels was right, by what simulations know."""

from __future__ import annotations

from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.results import Evidence

FIRST, LAST = 0, -1
"""Rounds of the last stage."""


def right_part(evidence: Evidence, place: Setting, at: int = LAST) -> float | None:
    """Return which part of all pseudo-labels of a round is right, over all seeds."""
    right = total = 0.0
    for record in evidence.found(place).values():
        clients = record["clients"]
        for client, counts in clients.get("num_pseudo", {}).items():
            part, count = clients["pseudo_label_accuracy"][client][at], counts[at]
            if part is not None and count:
                right, total = right + part * count, total + count
    return right / total if total else None
