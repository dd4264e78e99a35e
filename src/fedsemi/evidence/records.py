"""Records of finished runs: small text files that another machine can go on with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from fedsemi.client.evaluate import MAIN_SCORES, SCORES
from fedsemi.errors import StorageError
from fedsemi.evidence.jobs import Job, record_path
from fedsemi.runs.folder import METRICS, read_json
from fedsemi.storage import make_folder, write_whole
from fedsemi.text.json_text import parsed_object

TESTS = 5
"""The score of a run is its mean over the last five tests."""
_POINTS = 25
"""Rounds kept of what is recorded for each client."""

Record = dict[str, Any]


def read_records(folder: Path) -> dict[str, Record]:
    """Read all records of a profile, by key."""
    paths = sorted((folder / "runs").glob("*.json"))
    return {path.stem: read_json(path) for path in paths}


def write_record(folder: Path, job: Job, record: Record) -> None:
    """Keep a record; it appears whole or not at all."""
    path = record_path(folder, job.key)
    make_folder(path.parent)
    # One key a line: a record is read in diffs.
    lines = [f'"{key}": {_short(value)}' for key, value in record.items()]
    write_whole(path, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


def make_record(
    job: Job, profile: str, run: Path, warm_up: Path | None, extra: Mapping[str, Any]
) -> Record:
    """Take from a run's folder what tables and plots need."""
    lines, facts = read_metrics(run), read_json(run / "analysis.json")
    summary = read_json(run / "summary.json")
    manifest = read_json(run / "manifest.json")
    return {
        "schema": 1,
        "profile": profile,
        "dataset": job.setting.dataset,
        "arm": job.setting.arm,
        "partition": dict(job.setting.partition),
        "without": job.setting.without,
        "seed": job.seed,
        "config": job.experiment.model_dump(mode="json"),
        "prelude": None if job.prelude is None else job.prelude.model_dump(mode="json"),
        "warm_up": None if warm_up is None else curves(read_metrics(warm_up)),
        "rounds": curves(lines),
        "clients": by_client(lines),
        "owns": facts["clients"],
        "class_names": list(facts["class_names"]),
        "summary": summary["result"],
        "seconds": round(summary["seconds"], 1),
        "model_sha256": summary["model_sha256"],
        "data_sha256": manifest["data_sha256"],
        "partition_sha256": manifest["partition_sha256"],
        "partition_file_sha256": manifest.get("partition_file_sha256"),
        "labeled_share": round(manifest["labeled_share"], 4),
        "software": {"fedsemi": version("fedsemi"), "torch": str(torch.__version__)},
        **extra,
    }


def curves(lines: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Keep the tests of the global model."""
    tested = [line for line in lines if line.get("accuracy") is not None]
    stages = [line["stage"] for line in tested]
    found: dict[str, list[Any]] = {
        "stage": stages,
        "round": [line["round"] for line in tested],
    }
    for name in SCORES:
        found[name] = [_rounded(line[name]) for line in tested]
    if any(line.get("running_mean") for line in tested):
        for name in MAIN_SCORES:
            means = [(line.get("running_mean") or {}).get(name) for line in tested]
            found[f"running_mean.{name}"] = [_rounded(value) for value in means]
    return found


def by_client(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Keep what unlabeled clients did in some rounds of the last stage."""
    last = [line for line in lines if line["stage"] == lines[-1]["stage"]]
    kept = thinned(last)
    ids = sorted({int(id) for line in kept for id in line["clients"]})
    names = ("contribution", "pseudo_label_accuracy", "num_pseudo")
    return {
        "round": [line["round"] for line in kept],
        **{
            name: {
                str(id): [_rounded(_of(line, id).get(name)) for line in kept]
                for id in ids
                if any(_of(line, id).get("num_unlabeled") for line in kept)
            }
            for name in names
        },
        "mean_contribution": {
            str(id): _rounded(
                sum(_of(line, id).get("contribution", 0.0) for line in last) / len(last)
            )
            for id in ids
        },
    }


def thinned(lines: Sequence[Any], points: int = _POINTS) -> list[Any]:
    """Keep some entries, evenly spread, the first and the last among them."""
    if len(lines) <= points:
        return list(lines)
    step = (len(lines) - 1) / (points - 1)
    return [lines[round(i * step)] for i in range(points)]


def score(record: Record, metric: str, source: str = "result") -> float | None:
    """Return the score of a run in percent: a mean over its last tests, or a probe."""
    if source != "result":
        found = (record.get("probe") or {}).get(source.removeprefix("probe-"))
        return None if found is None or found[metric] is None else 100 * found[metric]
    stages = record["rounds"]["stage"]
    values = [
        value
        for value, stage in zip(record["rounds"][metric], stages, strict=True)
        if stage == stages[-1] and value is not None
    ][-TESTS:]
    return 100 * sum(values) / len(values) if values else None


def read_metrics(run: Path) -> list[dict[str, Any]]:
    """Read metrics.jsonl."""
    try:
        content = (run / METRICS).read_bytes()
        return [parsed_object(line) for line in content.splitlines()]
    except (OSError, ValueError) as error:
        raise StorageError(f"cannot read '{run / METRICS}': {error}") from None


def _of(line: Mapping[str, Any], id: int) -> Mapping[str, Any]:
    found: Mapping[str, Any] = line["clients"].get(str(id), {})
    return found


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _short(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
