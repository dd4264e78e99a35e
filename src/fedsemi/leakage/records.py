"""What was measured, kept in small text files: one for each method and seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from fedsemi.config.experiment import Experiment
from fedsemi.errors import StorageError
from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.compare import OwnConfig
from fedsemi.leakage.lab import Cell, Scale, run_job
from fedsemi.leakage.scene import check_can_be_dealt
from fedsemi.runs.folder import read_json
from fedsemi.runs.manifest import software
from fedsemi.simulation.build import load_dataset
from fedsemi.storage import make_folder, write_whole

_SCHEMA = 1


@dataclass(frozen=True)
class Job:
    """A method and a seed, all of whose questions are answered together."""

    method: str
    seed: int
    experiment: Experiment
    scale: Scale

    @property
    def file(self) -> str:
        """Name its record."""
        return f"{self.method.replace(':', '.')}-{self.seed}.json"

    @property
    def key(self) -> str:
        """Name all that decides the result."""
        decided = [_SCHEMA, self.experiment.sha256, asdict(self.scale)]
        return hashlib.sha256(json.dumps(decided).encode()).hexdigest()


@dataclass(frozen=True)
class Record:
    """What was found of one method and seed."""

    method: str
    seed: int
    key: str
    scale: Scale
    config: dict[str, Any]
    cells: tuple[Cell, ...]


def make_jobs(
    own: OwnConfig, methods: Sequence[str], seeds: int, scale: Scale
) -> list[Job]:
    """List what is to be done, one seed after the other."""
    check_can_be_dealt(own.base)
    return [
        Job(name, seed, own.experiment(Setting(own.base.data.name, name), seed), scale)
        for seed in range(1, seeds + 1)
        for name in dict.fromkeys(methods)
    ]


def run_jobs(
    jobs: Sequence[Job], out: Path, data_dir: Path | None = None
) -> Iterator[tuple[Job, Record, bool]]:
    """Do what is not yet done; yield each job, its record, and whether it was new."""
    make_folder(out)
    for job in jobs:
        if (found := _done(out, job)) is not None:
            yield job, found, False
            continue
        dataset = load_dataset(job.experiment, data_dir)
        cells = tuple(run_job(job.experiment, dataset, job.scale, out / "warm-up"))
        config = job.experiment.model_dump(mode="json", exclude_none=True)
        record = Record(job.method, job.seed, job.key, job.scale, config, cells)
        _write(out / job.file, record)
        yield job, record, True


def _done(out: Path, job: Job) -> Record | None:
    path = out / job.file
    if not path.exists():
        return None
    found = read_record(path)
    if found.key != job.key:
        raise StorageError(
            f"'{path}' was measured with other settings; give another folder to --out",
            code="FS6303",
        )
    return found


def read_records(folder: Path) -> list[Record]:
    """Read all records of a folder, in the order of the seeds."""
    found = [read_record(path) for path in sorted(folder.glob("*-*.json"))]
    return sorted(found, key=lambda record: record.seed)


def read_record(path: Path) -> Record:
    """Read one record."""
    content = read_json(path)
    known = [field.name for field in fields(Cell)]
    cells = tuple(
        Cell(**{name: cell.get(name) for name in known}) for cell in content["cells"]
    )
    scale = {**content["scale"], "sums": tuple(content["scale"]["sums"])}
    return Record(
        content["method"],
        content["seed"],
        content["key"],
        Scale(**scale),
        content["config"],
        cells,
    )


def _write(path: Path, record: Record) -> None:
    # One cell a line: a record is read in diffs.
    cells = ",\n".join(f"  {_short(asdict(cell))}" for cell in record.cells)
    about = {
        "schema": _SCHEMA,
        "method": record.method,
        "seed": record.seed,
        "key": record.key,
        "scale": asdict(record.scale),
        "config": record.config,
        "software": software(),
    }
    lines = [f'"{name}": {json.dumps(value)}' for name, value in about.items()]
    text = "{\n" + ",\n".join([*lines, f'"cells": [\n{cells}\n]']) + "\n}\n"
    write_whole(path, text.encode())


def _short(cell: dict[str, Any]) -> str:
    kept = {
        name: round(value, 5) if isinstance(value, float) else value
        for name, value in cell.items()
        if value is not None
    }
    return json.dumps(kept)
