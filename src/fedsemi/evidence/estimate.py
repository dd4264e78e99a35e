"""How long a plan will take: measured, not guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import mean

from fedsemi.build import build
from fedsemi.config import Experiment
from fedsemi.engines.in_process import one_thread
from fedsemi.evidence.jobs import Job
from fedsemi.evidence.records import Record
from fedsemi.evidence.runner import Runner
from fedsemi.experiment import conduct

_ROUNDS = 3
"""Rounds of a probe; the first one prepares the clients and does not count."""


@dataclass
class Clock:
    """Seconds of each kind of job: of finished ones, or of a probe of a few rounds."""

    runner: Runner
    records: Mapping[str, Record]
    _rounds: dict[str, float] = field(default_factory=dict)

    def seconds_left(self, probe: bool) -> float | None:
        """Estimate all jobs to do, warm-ups once each; None if something is unknown."""
        total, warm = 0.0, set()
        for job in self.runner.plan.todo:
            own = self._seconds(job, probe)
            if own is None:
                return None
            total += own
            warm_up = job.warm_up
            if warm_up is None or warm_up.sha256 in warm:
                continue
            warm.add(warm_up.sha256)
            if not self.runner.has_warm_up(warm_up):
                total += self._of_stages(warm_up, probe) or 0.0
        return total

    def _seconds(self, job: Job, probe: bool) -> float | None:
        wanted = job.setting.dataset, job.setting.arm
        known: list[float] = [
            record["seconds"]
            for record in self.records.values()
            if (record["dataset"], record["arm"]) == wanted
        ]
        if known:
            return mean(known)
        last = job.experiment.model_copy(
            update={"stages": job.experiment.stages[-1:], "start": None}
        )
        return self._of_stages(last, probe)

    def _of_stages(self, experiment: Experiment, probe: bool) -> float | None:
        """Time some rounds of each stage; the same stage is timed once."""
        total = 0.0
        for stage in experiment.stages:
            alone = experiment.model_copy(
                update={"stages": [stage.model_copy(update={"rounds": _ROUNDS})]}
            )
            # Seeds do not change how long a round takes.
            key = alone.model_copy(update={"seed": 0}).sha256
            if key not in self._rounds:
                if not probe:
                    return None
                self._rounds[key] = self._time(alone)
            total += self._rounds[key] * stage.rounds
        return total

    def _time(self, experiment: Experiment) -> float:
        runner = self.runner
        placed = experiment.model_copy(update={"device": runner.device})
        simulation = build(placed, runner.data_dir)
        with one_thread():
            steps = list(conduct(simulation, runner.workers))
        return mean(step.record.seconds for step in steps[1:])
