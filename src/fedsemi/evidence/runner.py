"""Carry a plan out: shared warm-ups, one record a run, at any time to be continued."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from fedsemi.config.experiment import Experiment
from fedsemi.engines.clock import cpu_seconds
from fedsemi.engines.in_process import one_thread
from fedsemi.errors import Interrupted, RunInUse
from fedsemi.evidence.forecast import Forecast
from fedsemi.evidence.jobs import Job, Plan, key_of
from fedsemi.evidence.records import Record, make_record, write_record
from fedsemi.report.analysis import federation_gaps
from fedsemi.runs.folder import METRICS, MODEL, RunFolder
from fedsemi.simulation.build import Simulation, build
from fedsemi.simulation.linear_probe import linear_probe
from fedsemi.simulation.run import run_simulation
from fedsemi.storage import read_weights
from fedsemi.text.screen import Screen, warn
from fedsemi.use.progress import duration
from fedsemi.use.resuming import take_beginning_for_granted
from fedsemi.use.session import record_run

_PATIENCE = 5.0
"""Seconds between two looks at what another process is working on."""
_SAVES = 10
"""Checkpoints in a run."""


@dataclass(frozen=True)
class Runner:
    """Runs jobs on this machine; several processes may share a folder."""

    plan: Plan
    profile: str
    workers: int
    console: Console
    data_dir: Path | None = None
    device: str = "cpu"
    forecast: Forecast | None = None
    """Tells beside a run how long the whole plan still takes."""
    build: Callable[[Experiment, Path | None], Simulation] = build
    """Where the data of an experiment come from."""
    _warned: set[str] = field(default_factory=set, init=False)
    """What was said of partitions, each once for all methods."""

    def run(self, told: Callable[[Job, Record], None]) -> None:
        """Run what has no record yet; a job that another process has comes later."""
        while todo := self.plan.todo:
            ran = False
            for job in todo:
                if self.plan.record_path(job).exists():
                    continue
                try:
                    told(job, self.run_job(job))
                    ran = True
                except RunInUse:
                    continue
                except Interrupted as error:
                    raise Interrupted(
                        "stopped; the same command goes on where it is"
                    ) from error
            if not ran:
                time.sleep(_PATIENCE)

    def run_job(self, job: Job) -> Record:
        """Run one job, or the rest of it, and keep its record."""
        if job.is_warm_up:
            return self._run_warm_up(job)
        warm_up = self._warm_up(job)
        experiment = job.experiment if warm_up is None else job.begun(warm_up / MODEL)
        run = self._work / job.key
        simulation = self._build(experiment)
        if job.setting.without is not None:
            rest = simulation.federation.without(job.setting.without)
            simulation = replace(simulation, federation=rest)
        spent = self._train(run, simulation, job.setting.label)
        probe = _probes(simulation, run) if job.probes else None
        extra = {"cpu_seconds": spent, "probe": probe}
        record = make_record(job, self.profile, run, warm_up, extra)
        write_record(self.plan.folder, job, record)
        shutil.rmtree(run)
        return record

    def _run_warm_up(self, job: Job) -> Record:
        """Keep the record of a warm-up, which is trained only if nobody has yet."""
        run = self._warmed_up(job.experiment, job.setting.label)
        record = make_record(job, self.profile, run, None, {"probe": None})
        write_record(self.plan.folder, job, record)
        return record

    def _warm_up(self, job: Job) -> Path | None:
        """Train what comes before the last stage, once for all who share it."""
        if job.warm_up is None:
            return None
        return self._warmed_up(job.warm_up, f"warm-up of {job.setting.label}")

    def _warmed_up(self, experiment: Experiment, label: str) -> Path:
        run = self._warm_up_folder(experiment)
        if not self.has_warm_up(experiment):
            self._train(run, self._build(experiment), label)
        return run.absolute()

    def has_warm_up(self, experiment: Experiment) -> bool:
        """Tell whether a warm-up has been trained on this machine."""
        return self.warm_up_model(experiment) is not None

    def warm_up_model(self, experiment: Experiment) -> Path | None:
        """Return the model of a warm-up that has been trained on this machine."""
        run = self._warm_up_folder(experiment)
        done = (run / "summary.json").exists() and (run / MODEL).exists()
        return run.absolute() / MODEL if done else None

    def _warm_up_folder(self, experiment: Experiment) -> Path:
        return self._work / f"warm-{key_of(experiment)}"

    def _train(self, run: Path, simulation: Simulation, label: str) -> float | None:
        """Train, and say how long processors were at it; None if a part was before.

        Seconds on the wall depend on who else uses the machine.
        """
        begins, before = not (run / METRICS).exists(), cpu_seconds()
        seed, stages = simulation.experiment.seed, simulation.experiment.stages
        every = max(1, stages[-1].rounds // _SAVES)
        shown = self.console if self.console.is_terminal else Screen(quiet=True)
        gaps = federation_gaps(simulation).warnings
        lines = [f"seed {seed}: {line}" for line in gaps]
        warn(self.console, [each for each in lines if each not in self._warned])
        self._warned.update(lines)
        with RunFolder.resume(run, simulation) as folder:
            take_beginning_for_granted(folder)
            if shown is not self.console:
                warn(self.console, folder.notices)
            folder.remedy = "the same command goes on from there"
            steps = run_simulation(simulation, self.workers, folder.start)
            title = f"{self._place}{label} seed {seed}"
            record_run(folder, simulation, steps, title, shown, every, self.workers)
        return round(cpu_seconds() - before, 1) if begins else None

    @property
    def _place(self) -> str:
        """Say where in the plan a run is, and how long the plan still takes."""
        left = None if self.forecast is None else self.forecast.seconds_left()
        rest = "" if left is None else f", about {duration(left)} left"
        return f"[{len(self.plan.done) + 1}/{len(self.plan.jobs)}{rest}] "

    def _build(self, experiment: Experiment) -> Simulation:
        placed = experiment.model_copy(update={"device": self.device})
        return self.build(placed, self.data_dir)

    @property
    def _work(self) -> Path:
        return self.plan.folder / "work"


def _probes(simulation: Simulation, run: Path) -> dict[str, Any]:
    """Ask what a linear layer can read from the last encoder."""
    setup = simulation.setup(simulation.experiment.stages[-1])
    weights = read_weights(run / MODEL)
    found = {}
    with one_thread():
        for labels in ("all", "labeled"):
            test = linear_probe(simulation, setup, weights, labels).test
            found[labels] = {
                "accuracy": round(test.accuracy, 4),
                "balanced_accuracy": round(test.balanced_accuracy, 4),
                "auc": None if test.auc is None else round(test.auc, 4),
            }
    return found
