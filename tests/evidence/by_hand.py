"""Whole records with chosen scores, found under the names of their settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.answers import answer_of
from fedsemi.evidence.catalogue import Setting, setting
from fedsemi.evidence.jobs import Job, Source, job_of
from fedsemi.evidence.questions import MAIN
from fedsemi.evidence.results import Evidence

Scores = dict[Setting, list[float | None]]

SITES = 9
"""Unlabeled; site 1 alone holds the second half of the classes."""


def record_of(
    job: Job, accuracy: float, lead: float = 0.0, held_out: float | None = None
) -> dict[str, Any]:
    """Make a record whose two tests have this accuracy; the running mean has more."""
    tests = {
        "stage": [1, 1],
        "round": [5, 10],
        "accuracy": [accuracy] * 2,
        "balanced_accuracy": [accuracy] * 2,
        "auc": [accuracy] * 2,
        "running_mean.accuracy": [accuracy + lead] * 2,
    }
    if held_out is not None:
        tests["held_out.accuracy"] = [held_out] * 2
    owns = {"0": {"num_labeled": 200, "num_unlabeled": 0, "class_count": [100, 100]}}
    for site in range(1, SITES + 1):
        counts = [0, 500] if site == 1 else [500, 0]
        own = {"num_labeled": 0, "num_unlabeled": 500, "class_count": counts}
        owns[str(site)] = own
    shares = {"0": 0.5, **{str(k): 0.1 / k for k in range(1, SITES + 1)}}
    return {
        "dataset": job.setting.dataset,
        "arm": job.setting.arm,
        "partition": dict(job.setting.partition),
        "without": job.setting.without,
        "seed": job.seed,
        "seconds": 10.0,
        "labeled_share": 0.05,
        "config": job.experiment.model_dump(mode="json"),
        "rounds": tests,
        "owns": owns,
        "clients": {"contribution": {}, "mean_contribution": shares},
    }


def evidence_of(
    source: Source,
    scores: Mapping[Setting, Sequence[float | None]],
    lead: float = 0.0,
) -> Evidence:
    """Give settings their accuracies, that of seed 1 first; None was not run."""
    records = {}
    for each, values in scores.items():
        for seed, value in enumerate(values, start=1):
            if value is not None:
                job = job_of(each, seed, source)
                records[job.key] = record_of(job, value, lead)
    return Evidence(source, 1, records)


def answer(name: str, evidence: Evidence) -> Answer:
    """Answer a question."""
    found = answer_of(name, evidence)
    assert found is not None
    return found


def svhn(**scores: list[float | None]) -> Scores:
    """Name the arms of the paper's setting, with _ for -."""
    return {
        setting("svhn", arm.replace("_", "-")): some for arm, some in scores.items()
    }


def mnist(**scores: list[float | None]) -> Scores:
    """Name the arms of the cell where one site alone holds digits."""
    return {
        setting("mnist", arm.replace("_", "-"), **MAIN): some
        for arm, some in scores.items()
    }
