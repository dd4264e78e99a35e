"""Read the folder of a run, also of one that is still going on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from fedsemi.client.evaluate import Metrics
from fedsemi.errors import StorageError
from fedsemi.runs.folder import METRICS, read_json
from fedsemi.runs.reading import read_lines, read_records, typed
from fedsemi.runs.records import RoundRecord
from fedsemi.server.alarms import Alarm

ALARMS = "alarms.jsonl"
CONFIG = "config.json"


@dataclass(frozen=True)
class Run:
    """All that a folder says; what is not written yet is empty."""

    path: Path
    config: dict[str, Any]
    manifest: dict[str, Any]
    records: list[RoundRecord]
    """One for each round, in order."""
    summary: dict[str, Any]
    analysis: dict[str, Any]
    alarms: list[Alarm]
    value: dict[str, Any]
    evaluation: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.resolve().name

    @property
    def num_rounds(self) -> int:
        """How many rounds were asked for, all stages together."""
        return sum(stage["rounds"] for stage in self.config["stages"])

    @property
    def finished(self) -> bool:
        """Whether all rounds were made."""
        return bool(self.summary)

    @property
    def sites(self) -> dict[int, str]:
        """The name of each client that is a folder of its own."""
        clients = self.analysis.get("clients") or {}
        return {int(id): own["site"] for id, own in clients.items() if own.get("site")}

    def last_tests(self, stage: int | None = None) -> list[Metrics]:
        """What means of a stage are over: ten tests, or all if fewer.

        Args:
            stage: The latest one if None.
        """
        if stage is None:
            stage = self.records[-1].stage if self.records else 0
        rounds = [record for record in self.records if record.stage == stage]
        return [record.test for record in rounds if record.test][-10:]

    @property
    def delivered(self) -> str:
        """Say what tests and model are of, if not of the last global model."""
        evaluation = self.config.get("evaluation") or {}
        if evaluation.get("delivers") != "running-mean":
            return ""
        keeps = evaluation["running_mean"]
        text = f"a running mean of the global model, which keeps {keeps:g} in a round"
        beside = [record.also_tested.get("global model") for record in self.records]
        known = [accuracy for accuracy in beside if accuracy is not None]
        last = f"; the global model itself is at {known[-1]:.1%}" if known else ""
        return f"{text}{last}"

    @property
    def methods(self) -> list[str]:
        """The method of each stage."""
        return [stage["method"] for stage in self.config["stages"]]


def runs_in(path: Path) -> list[Path]:
    """Return the folder itself if it is a run's, else the runs that lie in it, by name.

    `fedsemi demo` leaves such a folder. Where there is none, the folder is returned.
    """
    if (path / CONFIG).is_file():
        return [path]
    return sorted(each.parent for each in path.glob(f"*/{CONFIG}")) or [path]


def read_run(path: Path) -> Run:
    """Read a run; a line that is being written just now is left for the next time."""
    if not (path / CONFIG).is_file():
        inside = [str(each) for each in runs_in(path) if each != path]
        remedy = "give what `fedsemi run --out` was given"
        if inside:
            remedy = f"there are runs in it, of which to give one: {', '.join(inside)}"
        raise StorageError(
            f"'{path}' is not the folder of a run, for it has no {CONFIG}; {remedy}",
            code="FS1110",
        )
    return Run(
        path=path,
        config=_content(path / CONFIG),
        manifest=_content(path / "manifest.json"),
        records=read_records(path / METRICS),
        summary=_content(path / "summary.json"),
        analysis=_content(path / "analysis.json"),
        alarms=list(read_lines(path / ALARMS, lambda line: typed(_ALARM, line))),
        value=_content(path / "value.json"),
        evaluation=_content(path / "evaluation.json"),
    )


def _content(path: Path) -> dict[str, Any]:
    return read_json(path) if path.exists() else {}


_ALARM = TypeAdapter(Alarm)
