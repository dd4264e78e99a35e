"""How long a plan will take: measured, not guessed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from fedsemi.config.experiment import Experiment
from fedsemi.engines.in_process import one_thread
from fedsemi.evidence.jobs import Job
from fedsemi.evidence.records import Record
from fedsemi.evidence.runner import Runner
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation

_ROUNDS = 3
"""Rounds of a probe: one that prepares clients, one, and one with a test."""


@dataclass(frozen=True)
class Pace:
    """How long the parts of a stage take, in seconds."""

    start: float
    """Reading the data, starting workers, and the first round."""
    round: float
    """Any other round, without a test."""
    test: float

    def seconds(self, rounds: int, every: int) -> float:
        """Add a stage up; the last round is tested, and every few before it.

        >>> Pace(start=5, round=2, test=1).seconds(rounds=7, every=3)
        20
        """
        if not rounds:
            return 0
        tests = -(-rounds // every)
        return self.start + (rounds - 1) * self.round + tests * self.test


@dataclass
class Clock:
    """Seconds of each kind of job: of finished ones, or of a probe of a few rounds."""

    runner: Runner
    records: Mapping[str, Record]
    _paces: dict[str, Pace] = field(default_factory=dict)

    def seconds_left(self, probe: bool) -> float | None:
        """Estimate all jobs to do, warm-ups once each; None if something is unknown."""
        total, warm = 0.0, set()
        for job in self.runner.plan.todo:
            own = 0.0 if job.is_warm_up else self._seconds(job, probe)
            if own is None:
                return None
            total += own
            warm_up = job.experiment if job.is_warm_up else job.warm_up
            if warm_up is None or warm_up.sha256 in warm:
                continue
            warm.add(warm_up.sha256)
            if self.runner.has_warm_up(warm_up):
                continue
            seconds = self._of_stages(warm_up, probe)
            if seconds is None:
                return None
            total += seconds
        return total

    def _seconds(self, job: Job, probe: bool) -> float | None:
        wanted = job.setting.dataset, job.setting.card, job.setting.arm
        known: list[float] = [
            record["seconds"]
            for record in self.records.values()
            if (record["dataset"], record.get("card"), record["arm"]) == wanted
        ]
        if known:
            return median(known)
        # How many pseudo-labels there are to learn from depends on the model.
        model = job.warm_up and self.runner.warm_up_model(job.warm_up)
        last = job.experiment.model_copy(
            update={
                "stages": job.experiment.stages[-1:],
                "start": None if model is None else str(model),
            }
        )
        return self._of_stages(last, probe)

    def _of_stages(self, experiment: Experiment, probe: bool) -> float | None:
        """Time some rounds of each stage; the same stage is timed once."""
        total = 0.0
        for stage in experiment.stages:
            alone = experiment.model_copy(
                update={
                    "stages": [stage.model_copy(update={"rounds": _ROUNDS})],
                    "evaluation": experiment.evaluation.model_copy(
                        update={"every": _ROUNDS}
                    ),
                }
            )
            # A job of the same kind with another seed takes as long.
            key = alone.model_copy(update={"seed": 0, "start": None}).sha256
            if key not in self._paces:
                if not probe:
                    return None
                self._paces[key] = self._time(alone)
            every = experiment.evaluation.every
            total += self._paces[key].seconds(stage.rounds, every)
        return total

    def _time(self, experiment: Experiment) -> Pace:
        runner, times = self.runner, [time.perf_counter()]
        # Where a network is trained from nothing, three rounds are minutes.
        (stage,) = experiment.stages
        runner.console.print(
            f"timing {_ROUNDS} rounds of {stage.method} on {experiment.data.name}; "
            "--no-probe leaves that out",
            soft_wrap=True,
            highlight=False,
            markup=False,
        )
        placed = experiment.model_copy(update={"device": runner.device})
        simulation = build(placed, runner.data_dir)
        with one_thread():
            for _ in run_simulation(simulation, runner.workers):
                times.append(time.perf_counter())
        start, round, tested = (b - a for a, b in pairwise(times))
        return Pace(start, round, max(0.0, tested - round))
