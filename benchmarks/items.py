"""All benchmarks that make a section, by name."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.aggregation import aggregation
from benchmarks.claims import claims
from benchmarks.clients import clients
from benchmarks.common import Section
from benchmarks.counts import counts
from benchmarks.deployment import deployment
from benchmarks.first_words import first_words
from benchmarks.flower_ray import flower
from benchmarks.groups import groups
from benchmarks.large import large
from benchmarks.limit import augmentation, limit, scale
from benchmarks.masked import masked
from benchmarks.masks import masks
from benchmarks.precision import precision
from benchmarks.privacy import privacy
from benchmarks.reference import cores, reference
from benchmarks.rounds import bf16_rounds, rounds

ITEMS: dict[str, Callable[[int], Section]] = {
    "first_words": first_words,
    "limit": limit,
    "reference": reference,
    "cores": cores,
    "augmentation": augmentation,
    "aggregation": aggregation,
    "scale": scale,
    "precision": precision,
    "rounds": rounds,
    "bf16_rounds": bf16_rounds,
    "large": large,
    "flower": flower,
    "clients": clients,
    "deployment": deployment,
}
"""The longest come last: the results are written after each of them."""
BY_NAME: dict[str, Callable[[int], Section]] = {
    "claims": claims,
    "counts": counts,
    "groups": groups,
    "masked": masked,
    "masks": masks,
    "privacy": privacy,
}
"""What sites reveal or claim, and what hides or bounds it: run when named."""
