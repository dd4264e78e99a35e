"""Time left of a whole plan while it runs, from the runs that are finished."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import median

from fedsemi.evidence.arms import WARM_UPS
from fedsemi.evidence.jobs import Job, Plan
from fedsemi.evidence.records import Record

_WARM_UP = WARM_UPS[0]

Place = tuple[str, str | None]
"""A data set, and the card that it is under."""


class Forecast:
    """Knows how long each kind of run takes; nothing is trained to find out.

    A row that has not run yet is taken to be as long as the others of its data set,
    under the same card. Medians, since a run that was paused or had neighbors may have
    taken many times as long as it needs.
    """

    def __init__(self, plan: Plan, records: Mapping[str, Record]) -> None:
        self.plan = plan
        self._seconds: dict[tuple[Place, str], list[float]] = defaultdict(list)
        self._warm: set[tuple[object, ...]] = set()
        for record in records.values():
            self.note(record)

    def note(self, record: Record) -> None:
        """Learn from a finished run."""
        place = record["dataset"], record.get("card")
        self._seconds[place, record["arm"]].append(record["seconds"])
        partition = tuple(sorted(record["partition"].items()))
        self._warm.add((place, partition, record["seed"]))

    def seconds_left(self) -> float | None:
        """Add up what is to do, warm-ups once each; None before any run is known."""
        total, warm = 0.0, set(self._warm)
        for job in self.plan.todo:
            if (seconds := self.seconds_of(job)) is None:
                return None
            total += seconds
            own = _place(job), job.setting.partition, job.seed
            if job.is_warm_up:
                warm.add(own)
            elif own not in warm and job.warm_up is not None:
                warm.add(own)
                total += self._known(_place(job), _WARM_UP) or 0.0
        return total

    def seconds_of(self, job: Job) -> float | None:
        """Tell how long a run takes, its warm-up aside; None before any is known."""
        place = _place(job)
        known = self._known(place, job.setting.arm)
        if known is not None:
            return known
        beside = [
            seconds
            for (other, name), some in self._seconds.items()
            for seconds in some
            if other == place and name not in WARM_UPS
        ]
        every = [seconds for some in self._seconds.values() for seconds in some]
        return median(beside or every) if every else None

    def _known(self, place: Place, arm: str) -> float | None:
        some = self._seconds.get((place, arm))
        return median(some) if some else None


def _place(job: Job) -> Place:
    return job.setting.dataset, job.setting.card
