"""Records and evidence by hand, for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.jobs import Source, job_of
from fedsemi.evidence.results import Evidence


def scores_of(*accuracy: float | None, stage: int = 1) -> dict[str, Any]:
    """Make the tests of one stage; B-Acc is ten points below the accuracy."""
    return {
        "stage": [stage] * len(accuracy),
        "round": list(range(len(accuracy))),
        "accuracy": list(accuracy),
        "balanced_accuracy": [a if a is None else a - 0.1 for a in accuracy],
    }


def record(*accuracy: float | None, **more: Any) -> dict[str, Any]:
    """Make a record with these tests in its last stage."""
    return {
        "config": {"guard": {"enabled": False}},
        "rounds": scores_of(*accuracy),
        **more,
    }


def evidence_of(
    source: Source, records: Mapping[Setting, Sequence[Mapping[str, Any] | None]]
) -> Evidence:
    """Give each setting its records, that of seed 1 first; None was not run."""
    found = {
        job_of(setting, seed, source).key: dict(each)
        for setting, by_seed in records.items()
        for seed, each in enumerate(by_seed, start=1)
        if each is not None
    }
    return Evidence(source, max(map(len, records.values()), default=1), found)
