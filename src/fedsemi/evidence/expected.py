"""How long each run of a plan may take: as its like did, or by the work that it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fedsemi.config.experiment import make_experiment
from fedsemi.evidence.dry_check import passes_of
from fedsemi.evidence.jobs import Job, Plan
from fedsemi.evidence.records import Record


def expected(plan: Plan, records: Mapping[str, Record]) -> Iterator[tuple[Job, float]]:
    """Yield each job to do with the CPU seconds that it may take, if any are known.

    One whose CPU seconds were recorded with another seed takes as long. Others are
    taken by the images that they learn from, at the pace of the fastest record of the
    same data set: a rough figure, since methods differ in what they do with an image.
    """
    known, paces = _known(records), _paces(records)
    for job in plan.todo:
        setting, stage = job.setting, job.experiment.stages[-1]
        kind = setting.dataset, setting.card, setting.arm
        if kind in known:
            yield job, known[kind]
        elif setting.dataset in paces:
            yield job, paces[setting.dataset] * passes_of(job.experiment, stage)


def _known(records: Mapping[str, Record]) -> dict[tuple[str, str | None, str], float]:
    return {
        (record["dataset"], record.get("card"), record["arm"]): record["cpu_seconds"]
        for record in records.values()
        if record.get("cpu_seconds")
    }


def _paces(records: Mapping[str, Record]) -> dict[str, float]:
    """Return the seconds that a forward pass takes at best, by data set."""
    paces: dict[str, float] = {}
    for record in records.values():
        experiment, dataset = make_experiment(record["config"]), record["dataset"]
        last = experiment.stages[-1]
        seconds = record.get("cpu_seconds") or record["seconds"]
        pace = seconds / passes_of(experiment, last, _owned(record))
        if "learner" in last.settings:  # labels alone are learned faster
            paces[dataset] = min(pace, paces.get(dataset, pace))
    return paces


def _owned(record: Record) -> int | None:
    """Count the images of a scheme that deals out a part of them; None for others."""
    if record["config"]["partition"]["scheme"] != "rare-classes":
        return None
    owned = record["owns"].values()
    return sum(int(o["num_labeled"]) + int(o["num_unlabeled"]) for o in owned)
