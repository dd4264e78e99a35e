"""Time left of a whole plan while it runs, from the runs that are finished."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import mean

from fedsemi.evidence.arms import WARM_UPS
from fedsemi.evidence.jobs import Job, Plan
from fedsemi.evidence.records import Record

_WARM_UP = WARM_UPS[0]


class Forecast:
    """Knows how long each kind of run takes; nothing is trained to find out.

    A row that has not run yet is taken to be as long as the others of its data set.
    """

    def __init__(self, plan: Plan, records: Mapping[str, Record]) -> None:
        self.plan = plan
        self._seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._warm: set[tuple[object, ...]] = set()
        for record in records.values():
            self.note(record)

    def note(self, record: Record) -> None:
        """Learn from a finished run."""
        kind = record["dataset"], record["arm"]
        self._seconds[kind].append(record["seconds"])
        partition = tuple(sorted(record["partition"].items()))
        self._warm.add((record["dataset"], partition, record["seed"]))

    def seconds_left(self) -> float | None:
        """Add up what is to do, warm-ups once each; None before any run is known."""
        if not self._seconds:
            return None
        total, warm = 0.0, set(self._warm)
        for job in self.plan.todo:
            total += self._typical(job)
            place = job.setting.dataset, job.setting.partition, job.seed
            if job.is_warm_up:
                warm.add(place)
            elif place not in warm and job.warm_up is not None:
                warm.add(place)
                total += self._known(job.setting.dataset, _WARM_UP) or 0.0
        return total

    def _typical(self, job: Job) -> float:
        dataset, arm = job.setting.dataset, job.setting.arm
        known = self._known(dataset, arm)
        if known is not None:
            return known
        beside = [
            seconds
            for (other, name), some in self._seconds.items()
            for seconds in some
            if other == dataset and name not in WARM_UPS
        ]
        every = [seconds for some in self._seconds.values() for seconds in some]
        return mean(beside or every)

    def _known(self, dataset: str, arm: str) -> float | None:
        some = self._seconds.get((dataset, arm))
        return mean(some) if some else None
