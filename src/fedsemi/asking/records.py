"""Curves in small text files, one for each seed, to which each run adds a line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fedsemi.asking.curve import NOBODY, Point, run_asked, run_base
from fedsemi.config.experiment import Experiment, make_experiment
from fedsemi.errors import ConfigError, StorageError
from fedsemi.runs.folder import read_json
from fedsemi.runs.manifest import software
from fedsemi.simulation.build import build
from fedsemi.storage import make_folder, write_whole

_SCHEMA = 1

Arm = tuple[str, int]
"""A rule and a budget."""


@dataclass
class Record:
    """What is known of one seed."""

    seed: int
    key: str
    """Names all that decides the results."""
    config: dict[str, Any]
    points: dict[Arm, Point] = field(default_factory=dict)


def experiments(base: Experiment, seeds: int) -> list[Experiment]:
    """Give an experiment the seeds 1 to n.

    Raises:
        ConfigError: Nobody knows the labels that would be asked for.
    """
    if base.sites is not None:
        raise ConfigError(
            "the pictures of [sites] have no labels to be found out; use a config "
            "with a data set, or ask a person: `fedsemi ask RUN --data FOLDER`",
            code="FS6404",
        )
    content = base.model_dump(mode="json")
    content["partition"]["sha256"] = None  # labels move, and with them the hash
    return [make_experiment(content | {"seed": seed}) for seed in range(1, seeds + 1)]


def run_curves(
    base: Experiment,
    arms: Sequence[Arm],
    seeds: int,
    out: Path,
    data_dir: Path | None = None,
) -> Iterator[tuple[Record, Point, bool]]:
    """Run what is not yet known, seed by seed; yield whether each point was new.

    Args:
        base: The experiment; its seed is replaced.
        arms: Rules and budgets; that nobody is asked is always one.
        seeds: 1 to this number.
        out: Folder of the records.
        data_dir: Where the data sets are.
    """
    make_folder(out)
    for experiment in experiments(base, seeds):
        record, first = _record(out, experiment), None
        for arm in [(NOBODY, 0), *arms]:
            known = record.points.get(arm)
            if known is None:
                # Made once for all rules of a seed, and not at all if all are known.
                first = first or run_base(build(experiment, data_dir))
                record.points[arm] = run_asked(first, *arm)
                _write(out, record)
            yield record, record.points[arm], known is None


def read_records(folder: Path) -> list[Record]:
    """Read the records of a folder, in the order of the seeds."""
    found = [_read(path) for path in folder.glob("seed-*.json")]
    return sorted(found, key=lambda record: record.seed)


def _path(out: Path, seed: int) -> Path:
    return out / f"seed-{seed}.json"


def _record(out: Path, experiment: Experiment) -> Record:
    decided = json.dumps([_SCHEMA, experiment.sha256])
    key, path = (
        hashlib.sha256(decided.encode()).hexdigest(),
        _path(out, experiment.seed),
    )
    if not path.exists():
        config = experiment.model_dump(mode="json", exclude_none=True)
        return Record(experiment.seed, key, config)
    found = _read(path)
    if found.key != key:
        raise StorageError(
            f"'{path}' was measured with other settings; give another folder to --out",
            code="FS6405",
        )
    return found


def _read(path: Path) -> Record:
    content = read_json(path)
    points = [
        Point(**{**point, "asked": tuple(point["asked"])})
        for point in content["points"]
    ]
    arms = {(point.rule, point.budget): point for point in points}
    return Record(content["seed"], content["key"], content["config"], arms)


def _write(out: Path, record: Record) -> None:
    # One point a line: a record is read in diffs.
    lines = ",\n".join(f"  {_short(point)}" for point in record.points.values())
    about = {
        "schema": _SCHEMA,
        "seed": record.seed,
        "key": record.key,
        "config": record.config,
        "software": software(),
    }
    head = [f'"{name}": {json.dumps(value)}' for name, value in about.items()]
    text = "{\n" + ",\n".join([*head, f'"points": [\n{lines}\n]']) + "\n}\n"
    write_whole(_path(out, record.seed), text.encode())


def _short(point: Point) -> str:
    content = asdict(point) | {"seconds": round(point.seconds, 1)}
    content["scores"] = {
        name: None if value is None else round(value, 5)
        for name, value in point.scores.items()
    }
    return json.dumps(content)
