"""The folder of a run: everything needed to read it, continue it and run it again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from fedsemi.client.evaluate import SCORES, Metrics, Score
from fedsemi.config.blueprint import Blueprint
from fedsemi.config.labels_only import begins_with_labels_only
from fedsemi.errors import CannotCreate, StorageError
from fedsemi.messages import Weights
from fedsemi.runs.checkpoint import Checkpoint, Cursor, write_checkpoint
from fedsemi.runs.generations import Generations
from fedsemi.runs.lock import RunLock
from fedsemi.runs.manifest import (
    check_forkable,
    check_same_run,
    checkpoint_identity,
    manifest,
)
from fedsemi.runs.metrics_log import MetricsLog
from fedsemi.runs.records import RoundRecord, Step
from fedsemi.storage import make_folder, remove, write_weights, write_whole
from fedsemi.text.json_text import parsed_object
from fedsemi.text.printable import typed
from fedsemi.weights import digest

MODEL = "model.safetensors"
METRICS = "metrics.jsonl"
WARM_UP = "warm-up.fsck"
"""The checkpoint at the end of a first stage that labels alone begin with, too."""

_DERIVED = (
    "value.json",
    "evaluation.json",
    "model-card.md",
    "model.onnx",
    "model.pt2",
)
"""What other commands made of the model; a new run makes it untrue."""


class RunFolder:
    """Config, manifest, metrics, checkpoints, summary and model of one run.

    Made by `new`, `resume` or `fork`; closes as a context manager.
    """

    def __init__(self, path: Path, blueprint: Blueprint) -> None:
        self.path = make_folder(path)
        self._lock = RunLock(path)
        self._blueprint = blueprint
        self._identity = checkpoint_identity(blueprint)
        self._shares_warm_up = begins_with_labels_only(blueprint.experiment)
        self._generations = Generations(path)
        self._log = MetricsLog(path / METRICS)
        self.start: Checkpoint | None = None
        """Where the run continues; None if at the beginning."""
        self.notices: list[str] = []
        """What a person should know about the start."""
        self.remedy = f"continue with `{resuming(path)}`"
        """What to do when the run was stopped; not all runs continue by `run`."""

    @classmethod
    def new(cls, path: Path, blueprint: Blueprint, overwrite: bool = False) -> Self:
        """Begin a run. Another one in the same folder is not thrown away unasked."""
        if blueprint.experiment.start is not None:
            # A bad one is told before there is a folder, which would be in the way.
            blueprint.initial_weights()
        return cls._begun(path, blueprint, overwrite)

    @classmethod
    def _begun(cls, path: Path, blueprint: Blueprint, overwrite: bool = False) -> Self:
        folder = cls(path, blueprint)
        if not overwrite and (folder._finished or list(path.glob("ckpt-*"))):
            folder.close()
            raise _taken(path, folder._finished)
        try:
            folder._clear()
            folder._describe()
        except BaseException:
            folder.close()
            raise
        return folder

    @classmethod
    def resume(cls, path: Path, blueprint: Blueprint) -> Self:
        """Continue a run from its newest sound checkpoint."""
        folder = cls(path, blueprint)
        try:
            folder._resume()
        except BaseException:
            folder.close()
            raise
        return folder

    @classmethod
    def fork(
        cls,
        path: Path,
        blueprint: Blueprint,
        origin: Path,
        at: Checkpoint | None = None,
        overwrite: bool = False,
    ) -> Self:
        """Begin a run at a checkpoint of another one, the newest sound one if None."""
        found = at or Generations(origin).newest()[0]
        if found is None:
            raise StorageError(f"'{origin}' holds no checkpoint", code="FS1101")
        check_forkable(found.identity, checkpoint_identity(blueprint), found.cursor)
        log = _read_log(origin / METRICS)
        folder = cls._begun(path, blueprint, overwrite)
        try:
            write_whole(path / METRICS, log)
            folder._continue_at(found)
            target = folder._generations.path(found.cursor.number)
            found.rewrite(target, folder._identity)
            folder._generations.keep(found.cursor.number)
        except BaseException:
            folder.close()
            raise
        folder.notices.append(f"FS1003 forked from {found.path}")
        return folder

    def append(self, step: Step) -> None:
        """Add a line to metrics.jsonl."""
        self._log.append(step.record)

    def save(self, step: Step) -> None:
        """Write a checkpoint of the state after a round, and drop the oldest."""
        record, stages = step.record, self._blueprint.experiment.stages
        self._log.sync()
        number = sum(stage.rounds for stage in stages[: record.stage]) + record.round
        cursor = Cursor(
            number, record.stage, record.round, self._log.size, self._log.sha256
        )
        state = step.state
        clients = [*(client.id for client in state.clients), *state.away]
        targets = [self._generations.path(number)]
        if record.stage == 0 and record.round == record.rounds and self._shares_warm_up:
            targets.append(self.path / WARM_UP)
        for target in targets:
            write_checkpoint(
                target, cursor, self._identity, step.state, clients, step.memory
            )
        self._generations.keep(number)

    def finish(self, weights: Weights) -> dict[str, Any]:
        """Write the model and the summary; return the summary."""
        write_weights(self.path / MODEL, weights)
        summary = summarize(self._log.records) | {
            "model_sha256": digest(weights),
            "metrics_sha256": self._log.digest,
        }
        self._write_json("summary.json", summary)
        self._generations.keep_only_newest()
        return summary

    def note(self, name: str, content: object) -> None:
        """Add to the manifest what is known only once the run has begun."""
        known = read_json(self.path / "manifest.json")
        self._write_json("manifest.json", {**known, name: content})

    def close(self) -> None:
        """Let other processes have the folder."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _finished(self) -> bool:
        return (self.path / "summary.json").exists()

    def _resume(self) -> None:
        found, problems = self._generations.newest()
        self._generations.remove_partial()
        if found is None:
            self._clear()
            self._describe()
            self.notices.append("FS1001 no checkpoint yet, starting at the beginning")
            return
        for problem in problems:
            self.notices.append(f"{problem} — using {found.path.name} instead")
        check_same_run(found.identity, self._identity, found.cursor)
        self._continue_at(found)
        cursor = found.cursor
        self.notices.append(
            f"FS1001 resuming '{self.path}' after round {cursor.round} of stage "
            f"{cursor.stage + 1} from {found.path.name} (sha256 {found.sha256[:8]}…)"
        )

    def _continue_at(self, found: Checkpoint) -> None:
        cursor = found.cursor
        self._log = MetricsLog.continued(
            self.path / METRICS, cursor.log_bytes, cursor.log_sha256
        )
        remove(self.path / "summary.json")
        self._describe()
        self.start = found

    def _clear(self) -> None:
        for name in ("summary.json", MODEL, WARM_UP, *_DERIVED):
            remove(self.path / name)
        self._generations.clear()
        self._log = MetricsLog.new(self.path / METRICS)

    def _describe(self) -> None:
        config = self._blueprint.experiment.model_dump(mode="json")
        self._write_json("config.json", config)
        self._write_json("manifest.json", manifest(self._blueprint))

    def _write_json(self, name: str, content: object) -> None:
        text = json.dumps(content, indent=2) + "\n"
        write_whole(self.path / name, text.encode())


def resuming(path: Path, data_dir: Path | None = None) -> str:
    """Return the command that continues a run which `fedsemi run` began."""
    where = ("--data-dir", data_dir) if data_dir else ()
    return typed("fedsemi", "run", "--resume", path, *where)


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON file of a run, or say what is wrong with it."""
    try:
        return parsed_object(path.read_bytes())
    except OSError as error:
        raise StorageError(
            f"cannot read '{path}': {error.strerror}; is this the folder of a run?",
            code="FS1101",
        ) from None
    except ValueError as error:
        raise StorageError(f"'{path}' is not JSON: {error}", code="FS1104") from None


def _read_log(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StorageError(
            f"cannot read '{path}': {error.strerror}; put it back", code="FS1101"
        ) from None


def summarize(records: Sequence[RoundRecord]) -> dict[str, Any]:
    """Summarize a run: for each stage its last round, last ten and best round."""
    stages = sorted({record.stage for record in records if record.test})
    found = [_summarize_stage([r for r in records if r.stage == n]) for n in stages]
    spent = records[-1].privacy if records else None
    return {
        "seconds": sum(record.seconds for record in records),
        "stages": found,
        "result": found[-1] if found else None,
        **({"privacy": asdict(spent)} if spent else {}),
    }


def _summarize_stage(records: Sequence[RoundRecord]) -> dict[str, Any]:
    tests = [(record, record.test) for record in records if record.test]
    last, scores = tests[-1]
    best, most = max(tests, key=lambda pair: pair[1].accuracy)
    return {
        "stage": last.stage,
        "method": last.method,
        "rounds": last.round,
        "last_round": scores.scores,
        "mean_of_last_10": mean_scores([test for _, test in tests[-10:]]),
        "best_round_on_test_set": {"round": best.round, **most.scores},
    }


def mean_scores(tests: Sequence[Metrics]) -> dict[Score, float | None]:
    """Average tests, score by score; None where a score is unknown in all of them."""
    return {name: _mean([test.scores[name] for test in tests]) for name in SCORES}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _taken(path: Path, finished: bool) -> CannotCreate:
    state = "a finished" if finished else "an unfinished"
    keep = "" if finished else f"continue it with `{resuming(path)}`, "
    return CannotCreate(
        f"'{path}' holds {state} run; {keep}choose another --out, or pass "
        "--overwrite to replace it",
        code="FS1402",
    )
