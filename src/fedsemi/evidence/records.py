"""Records of finished runs: small text files that another machine can go on with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fedsemi.client.evaluate import MAIN_SCORES, SCORES
from fedsemi.errors import StorageError
from fedsemi.evidence.jobs import Job, record_path
from fedsemi.runs.folder import METRICS, read_json
from fedsemi.runs.manifest import software
from fedsemi.runs.reading import read_records as read_rounds
from fedsemi.runs.records import RoundRecord
from fedsemi.runs.silence import silence_of
from fedsemi.storage import make_folder, write_whole

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
    rounds, facts = read_metrics(run), read_json(run / "analysis.json")
    summary = read_json(run / "summary.json")
    manifest = read_json(run / "manifest.json")
    return {
        "schema": 1,
        "profile": profile,
        "dataset": job.setting.dataset,
        "arm": job.setting.arm,
        "partition": dict(job.setting.partition),
        "without": job.setting.without,
        "card": job.setting.card,
        "seed": job.seed,
        "config": job.experiment.model_dump(mode="json"),
        "prelude": None if job.prelude is None else job.prelude.model_dump(mode="json"),
        "warm_up": None if warm_up is None else curves(read_metrics(warm_up)),
        "rounds": curves(rounds),
        "clients": by_client(rounds),
        "cuts": cuts(rounds),
        "silence": vars(silence_of(rounds)),
        "owns": facts["clients"],
        "class_names": list(facts["class_names"]),
        "summary": summary["result"],
        "seconds": round(summary["seconds"], 1),
        "bytes_sent": sum(map(bytes_of, rounds)),
        "model_sha256": summary["model_sha256"],
        "data_sha256": manifest["data_sha256"],
        "partition_sha256": manifest["partition_sha256"],
        "partition_file_sha256": manifest.get("partition_file_sha256"),
        "labeled_share": round(manifest["labeled_share"], 4),
        "software": software(),
        **extra,
    }


def bytes_of(record: RoundRecord) -> int:
    """Add up what all who took part in a round sent."""
    learners = sum(client.bytes_sent for client in record.clients.values())
    return learners + record.measured_bytes


def curves(rounds: Sequence[RoundRecord]) -> dict[str, list[Any]]:
    """Keep the tests of the model that is delivered, and of its mean beside it."""
    tested = [(each, each.test) for each in rounds if each.test]
    found: dict[str, list[Any]] = {
        "stage": [each.stage for each, _ in tested],
        "round": [each.round for each, _ in tested],
    }
    for name in SCORES:
        found[name] = [_rounded(test.scores[name]) for _, test in tested]
    held_out = [each.validation for each, _ in tested if each.validation]
    if held_out and len(held_out) == len(tested):
        found["held_out.accuracy"] = [_rounded(each.accuracy) for each in held_out]
        recalls = [_mean(each.per_class_recall) for each in held_out]
        found["held_out.balanced_accuracy"] = recalls
    means = [each.running_mean for each, _ in tested]
    if any(means):
        for name in MAIN_SCORES:
            values = [mean.scores[name] if mean else None for mean in means]
            found[f"running_mean.{name}"] = [_rounded(value) for value in values]
    return found


def by_client(rounds: Sequence[RoundRecord]) -> dict[str, Any]:
    """Keep what unlabeled clients did in some rounds of the last stage."""
    last = [each for each in rounds if each.stage == rounds[-1].stage]
    kept = thinned(last)
    ids = sorted({id for each in kept for id in each.clients})
    rows = {id: [each.clients.get(id) for each in kept] for id in ids}
    unlabeled = {
        str(id): row
        for id, row in rows.items()
        if any(client and client.num_unlabeled for client in row)
    }
    shares = {
        id: [each.clients[id].contribution for each in last if id in each.clients]
        for id in ids
    }
    return {
        "round": [each.round for each in kept],
        "contribution": {
            id: [client and _rounded(client.contribution) for client in row]
            for id, row in unlabeled.items()
        },
        "pseudo_label_accuracy": {
            id: [client and _rounded(client.pseudo_label_accuracy) for client in row]
            for id, row in unlabeled.items()
        },
        "num_pseudo": {
            id: [client and client.num_pseudo for client in row]
            for id, row in unlabeled.items()
        },
        "mean_contribution": {
            str(id): _rounded(sum(some) / len(last)) for id, some in shares.items()
        },
    }


def cuts(rounds: Sequence[RoundRecord]) -> list[dict[str, Any]]:
    """Keep what the guard cut in which round, all stages; nothing if it was off."""
    return [
        {
            "stage": each.stage,
            "round": each.round,
            "client": cut.client,
            "code": cut.code,
            "part": _rounded(cut.part),
        }
        for each in rounds
        for cut in each.cuts
    ]


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
    if metric not in record["rounds"]:  # no running mean was asked for
        return None
    stages = record["rounds"]["stage"]
    values = [
        value
        for value, stage in zip(record["rounds"][metric], stages, strict=True)
        if stage == stages[-1] and value is not None
    ][-TESTS:]
    return 100 * sum(values) / len(values) if values else None


def read_metrics(run: Path) -> list[RoundRecord]:
    """Read the rounds of a finished run."""
    rounds = read_rounds(run / METRICS)
    if not rounds:
        raise StorageError(
            f"'{run / METRICS}' holds no round; run the job again", code="FS1101"
        )
    return rounds


def _mean(values: Iterable[float | None]) -> float | None:
    """Average what there is; a class of which nothing was held out has no recall."""
    known = [value for value in values if value is not None]
    return _rounded(sum(known) / len(known)) if known else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _short(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
