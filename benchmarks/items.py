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
from benchmarks.honest import honest
from benchmarks.large import large
from benchmarks.limit import augmentation, limit, scale
from benchmarks.masked import masked
from benchmarks.masks import masks
from benchmarks.precision import precision
from benchmarks.privacy import privacy
from benchmarks.reference import cores, reference
from benchmarks.rounds import bf16_rounds, rounds

ITEMS: dict[str, Callable[[int], Section]] = {
    act.__name__: act
    for act in (
        *(first_words, limit, reference, cores, augmentation, aggregation, scale),
        *(precision, rounds, bf16_rounds, large, flower, clients, deployment),
        *(claims, counts, groups, honest, masked, masks, privacy),
    )
}
