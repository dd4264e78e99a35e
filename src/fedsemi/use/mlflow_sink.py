"""Tell an MLflow server of a run: afterwards, or round by round while it goes on.

The server is the one that MLFLOW_TRACKING_URI names, as for any client of MLflow. A run
never waits for it: what is logged meanwhile goes through a thread of its own, which
warns once when the server cannot be reached and tries again after the next round.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

from fedsemi.errors import ConfigError
from fedsemi.report.card import as_markdown, card_of
from fedsemi.report.run import Run, read_run
from fedsemi.report.settings import flat, shareable
from fedsemi.report.view import evaluation_of
from fedsemi.runs.records import RoundRecord, Step
from fedsemi.text.printable import printable, typed
from fedsemi.use.exports import missing, scalars

ADDRESS = "MLFLOW_TRACKING_URI"
EXPERIMENT = "fedsemi"
_PATIENCE = 20.0
"""Seconds that the end of a run waits for what is under way."""
_IMPATIENT = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}
"""By default MLflow tries for minutes, and tells its makers of its use."""
_AT_ONCE = 100
"""Parameters that MLflow takes in one request."""
_LONGEST = 500

Tell = Callable[[str], None]


def save_mlflow(run: Run) -> str:
    """Log a whole run; return where it is."""
    require_mlflow()
    try:
        logged = _Logged(run.path)
        for record in run.records:
            logged.add(record)
        logged.end(finished=run.finished)
    except Exception as error:  # whatever MLflow and its transports raise
        raise ConfigError(
            f"MLflow at {_address()} does not take the run: {_first_line(error)}; is "
            "the server up, and may you write there?",
            code="FS4211",
        ) from None
    return f"{_address()}, experiment {EXPERIMENT}, run {run.name}"


def require_mlflow() -> None:
    """Refuse before the first round what cannot work: no package, no address."""
    for name, value in _IMPATIENT.items():
        os.environ.setdefault(name, value)
    try:
        import mlflow  # noqa: F401
    except ImportError:
        raise missing("mlflow", "mlflow") from None
    if ADDRESS not in os.environ:
        raise ConfigError(
            f"nobody says where MLflow is; set {ADDRESS}, e.g. to "
            "http://127.0.0.1:5000",
            code="FS4210",
        )


def told_to_mlflow(steps: Iterator[Step], path: Path, tell: Tell) -> Iterator[Step]:
    """Pass the steps of a run on, and log them meanwhile.

    Args:
        steps: Of the run; closed with this iterator.
        path: The run's folder.
        tell: Prints a line for a person.
    """
    sink, finished = Sink(path, tell), False
    try:
        for step in steps:
            sink.put(step.record)
            yield step
        finished = True
    finally:
        if isinstance(steps, Generator):
            steps.close()
        sink.close(finished=finished)


class Sink:
    """Logs records from a thread of its own, and never fails."""

    def __init__(self, path: Path, tell: Tell) -> None:
        self._path, self._tell = path, tell
        self._queue: Queue[RoundRecord | None] = Queue()
        self._backlog: list[RoundRecord] = []
        self._warned = self._finished = False
        self._thread = Thread(target=self._work, daemon=True, name="mlflow")
        self._thread.start()

    def put(self, record: RoundRecord) -> None:
        """Log a round some time soon."""
        self._queue.put(record)

    def close(self, *, finished: bool) -> None:
        """Wait a little for what is under way; say what to do if it did not arrive."""
        self._finished = finished
        self._queue.put(None)
        self._thread.join(_PATIENCE)
        if self._thread.is_alive() or self._backlog:
            again = typed("fedsemi", "export", self._path, "--format", "mlflow")
            self._tell(f"MLflow did not get all rounds; `{again}` sends the whole run")

    def _work(self) -> None:
        logged: _Logged | None = None
        while (record := self._queue.get()) is not None:
            self._backlog.append(record)
            try:
                logged = logged or _Logged(self._path)
                while self._backlog:
                    logged.add(self._backlog[0])
                    del self._backlog[0]
            except Exception as error:  # whatever MLflow and its transports raise
                self._warn(error)
        try:
            if logged is not None:
                logged.end(finished=self._finished)
        except Exception as error:
            self._warn(error)

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            text = f"FS4212 MLflow at {_address()} cannot be told: {_first_line(error)}"
            self._tell(f"{text}; the run goes on, and tries again after each round")


class _Logged:
    """One run at MLflow."""

    def __init__(self, path: Path) -> None:
        from mlflow import MlflowClient

        self._path = path
        self._client: Any = MlflowClient(os.environ[ADDRESS])
        known = self._client.get_experiment_by_name(EXPERIMENT)
        number = (
            self._client.create_experiment(EXPERIMENT)
            if known is None
            else known.experiment_id
        )
        run = read_run(path)
        self._before = [stage["rounds"] for stage in run.config["stages"]]
        tags = {"fedsemi.config_sha256": str(run.manifest.get("config_sha256"))}
        created = self._client.create_run(number, run_name=run.name, tags=tags)
        self._id: str = created.info.run_id
        self._settings(shareable(flat(run.config)))

    def add(self, record: RoundRecord) -> None:
        """Log the numbers of a round; steps count the rounds of all stages."""
        from mlflow.entities import Metric

        step, now = sum(self._before[: record.stage]) + record.round, _now()
        found = scalars(record).items()
        numbers = [Metric(k, float(v), now, step) for k, v in found if v is not None]
        for part in _parts(numbers):
            self._client.log_batch(self._id, metrics=part)

    def end(self, *, finished: bool) -> None:
        """Say how the run ended; a finished one gets its model card."""
        run = read_run(self._path)
        if rows := card_of(run, evaluation_of(run)):
            card = as_markdown(run.name, rows)
            self._client.log_text(self._id, card, "model-card.md")
        self._client.set_terminated(self._id, "FINISHED" if finished else "KILLED")

    def _settings(self, settings: dict[str, Any]) -> None:
        from mlflow.entities import Param

        params = [
            Param(key, printable(str(value), _LONGEST))
            for key, value in settings.items()
        ]
        for part in _parts(params):
            self._client.log_batch(self._id, params=part)


def _parts(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), _AT_ONCE):
        yield items[start : start + _AT_ONCE]


def _now() -> int:
    return int(time.time() * 1000)


def _address() -> str:
    """Name the server without a password that the address may hold."""
    return os.environ.get(ADDRESS, "").rsplit("@", 1)[-1]


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    return printable(lines[0], 300)
