"""Run one record again, on any machine, to see that it comes out the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedsemi.config.experiment import make_experiment
from fedsemi.errors import StorageError
from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.jobs import Job
from fedsemi.evidence.records import Record
from fedsemi.runs.folder import read_json

_NEEDED = ("dataset", "arm", "seed", "config", "rounds", "model_sha256")
_COMPARED = ("data_sha256", "partition_sha256", "model_sha256", "rounds")
"""The images, who owns which, the last bits of the model, and all tests on the way."""


@dataclass(frozen=True)
class Claim:
    """A record that somebody else made, and the job that makes it again."""

    path: Path
    record: Record
    job: Job

    @property
    def renamed(self) -> bool:
        """Whether the record has another name than its job has here.

        Then settings were changed by hand, or a plug-in has other code than it had.
        """
        return self.path.stem != self.job.key


def read_claim(path: Path) -> Claim:
    """Read a record and write its job from it."""
    record = read_json(path)
    if lacking := [name for name in _NEEDED if name not in record]:
        raise StorageError(
            f"'{path}' is no record of a run: it has no '{lacking[0]}'; give a file of "
            "runs/ in a results folder, or the folder of a run",
            code="FS1112",
        )
    setting = Setting(
        record["dataset"],
        record["arm"],
        tuple(sorted((record.get("partition") or {}).items())),
        record.get("without"),
        record.get("card"),
    )
    before: Mapping[str, Any] | None = record.get("prelude")
    job = Job(
        setting,
        record["seed"],
        make_experiment(record["config"]),
        None if before is None else make_experiment(before),
    )
    return Claim(path, record, job)


def unequal(claim: Claim, again: Record) -> list[str]:
    """Name what did not come out the same."""
    return [name for name in _COMPARED if claim.record.get(name) != again[name]]
