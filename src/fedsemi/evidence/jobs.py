"""Jobs: one experiment each, named by a hash of its settings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

from fedsemi.config.experiment import Experiment
from fedsemi.config.plugged import plugins_of
from fedsemi.errors import ConfigError
from fedsemi.evidence.arms import ARMS, WARM_UPS
from fedsemi.evidence.catalogue import Setting


class Source(Protocol):
    """Writes the config of a setting: a profile, or somebody's own config."""

    @property
    def name(self) -> str:
        """What the results are called."""

    @property
    def lower_bound(self) -> str:
        """The arm that the share of the gap is measured from."""

    @property
    def seeds(self) -> int:
        """How many seeds are planned of each setting; 0 if that is up to the user."""

    def experiment(self, setting: Setting, seed: int) -> Experiment:
        """Write the config of a setting."""

    def prelude(self, setting: Setting, seed: int) -> Experiment | None:
        """Write the config that a setting starts from, if its own stages lack it."""


@dataclass(frozen=True)
class Job:
    """A setting with a seed, as a config."""

    setting: Setting
    seed: int
    experiment: Experiment
    prelude: Experiment | None = None
    """Whose model the experiment starts from; None if all stages are its own."""

    @property
    def probes(self) -> bool:
        """Whether a linear probe is part of the record."""
        return self.setting.arm in ARMS and ARMS[self.setting.arm].probes

    @cached_property
    def key(self) -> str:
        """Name the job by everything that decides its result."""
        parts = _parts(self.experiment)
        if self.setting.without is not None:
            parts.append(str(self.setting.without))
        if self.prelude is not None:
            parts += _parts(self.prelude)
        return _joined(parts)

    @property
    def is_warm_up(self) -> bool:
        """Whether this is what others begin with, so that its run may be there."""
        return self.setting.arm in WARM_UPS

    @property
    def warm_up(self) -> Experiment | None:
        """The stages before the last one, which other arms may share."""
        if self.prelude is not None:
            return self.prelude
        stages = self.experiment.stages
        if len(stages) == 1:
            return None
        # The last stage begins with the global model, whichever a run delivers.
        evaluation = self.experiment.evaluation.model_copy(
            update={"delivers": "global"}
        )
        update = {"stages": stages[:-1], "evaluation": evaluation}
        return self.experiment.model_copy(update=update)

    def begun(self, model: Path) -> Experiment:
        """Write the config that starts where the warm-up ended, to the same bits.

        The stages of the warm-up stay, with no rounds: the number of a stage is part
        of its seed.
        """
        stages = [
            stage.model_copy(update={"rounds": 0})
            for stage in self.experiment.stages[:-1]
        ]
        stages.append(self.experiment.stages[-1])
        return self.experiment.model_copy(
            update={"stages": stages, "start": str(model)}
        )


@dataclass(frozen=True)
class Plan:
    """What is wanted, and where its records are."""

    jobs: tuple[Job, ...]
    folder: Path

    def record_path(self, job: Job) -> Path:
        """Say where the record of a finished job is."""
        return record_path(self.folder, job.key)

    def shard(self, which: str | None) -> Plan:
        """Keep every n-th job, from the i-th on, for "i/n"; all for None.

        A seed's jobs are dealt out too: whoever needs a warm-up that another process
        is at waits for it.
        """
        if which is None:
            return self
        index, _, count = which.partition("/")
        if not (index.isdecimal() and count.isdecimal()) or not (
            1 <= int(index) <= int(count)
        ):
            raise ConfigError(
                f"--shard {which}: give which part of how many, from 1/4 to 4/4 for "
                "four processes",
                code="FS4112",
            )
        return replace(self, jobs=self.jobs[int(index) - 1 :: int(count)])

    @property
    def todo(self) -> list[Job]:
        """List the jobs without a record."""
        return [job for job in self.jobs if not self.record_path(job).exists()]

    @property
    def done(self) -> list[Job]:
        """List the jobs that have a record."""
        return [job for job in self.jobs if self.record_path(job).exists()]


def key_of(experiment: Experiment) -> str:
    """Name an experiment by its settings, and by the code of plug-ins that it uses."""
    return _joined(_parts(experiment))


def _parts(experiment: Experiment) -> list[str]:
    plugins = plugins_of(experiment, with_data=True)
    code = [json.dumps(plugins, sort_keys=True)] if plugins else []
    return [experiment.sha256, *code]


def _joined(parts: Sequence[str]) -> str:
    if len(parts) == 1:
        return parts[0][:16]
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


def record_path(folder: Path, key: str) -> Path:
    """Say where a record is kept."""
    return folder / "runs" / f"{key}.json"


def job_of(setting: Setting, seed: int, source: Source) -> Job:
    """Make the job of a setting."""
    experiment = source.experiment(setting, seed)
    return Job(setting, seed, experiment, source.prelude(setting, seed))


def make_plan(
    settings: Iterable[Setting], source: Source, seeds: int, folder: Path
) -> Plan:
    """Plan every setting with each seed; a whole seed comes before the next."""
    wanted = list(dict.fromkeys(settings))
    jobs = [
        job_of(each, seed, source) for seed in range(1, seeds + 1) for each in wanted
    ]
    return Plan(_each_once(jobs), folder)


def _each_once(jobs: Sequence[Job]) -> tuple[Job, ...]:
    """Drop jobs that are the same experiment under two names."""
    found: dict[str, Job] = {}
    for job in jobs:
        found.setdefault(job.key, job)
    return tuple(found.values())
