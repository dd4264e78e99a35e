"""Read the folder of a run, also of one that is still going on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedsemi.errors import StorageError
from fedsemi.runs.folder import METRICS, read_json
from fedsemi.text.json_text import parsed_object


@dataclass(frozen=True)
class Run:
    """All that a folder says; what is not written yet is empty."""

    path: Path
    config: dict[str, Any]
    manifest: dict[str, Any]
    records: list[dict[str, Any]]
    """One for each round, in order."""
    summary: dict[str, Any]
    analysis: dict[str, Any]
    alarms: list[dict[str, Any]]
    value: dict[str, Any]

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

    def last_tests(self, stage: int | None = None) -> list[dict[str, Any]]:
        """The rounds that means of a stage are over: ten tests, or all if fewer.

        Args:
            stage: The latest one if None.
        """
        if stage is None:
            stage = self.records[-1]["stage"] if self.records else 0
        rounds = [record for record in self.records if record["stage"] == stage]
        return [each for each in rounds if each.get("accuracy") is not None][-10:]

    @property
    def methods(self) -> list[str]:
        """The method of each stage."""
        return [stage["method"] for stage in self.config["stages"]]


def read_run(path: Path) -> Run:
    """Read a run; a line that is being written just now is left for the next time."""
    if not (path / "config.json").is_file():
        raise StorageError(
            f"'{path}' is not the folder of a run, for it has no config.json; give "
            "what `fedsemi run --out` was given",
            code="FS1110",
        )
    lines = _lines(path / METRICS, "stage", "round")
    rounds = {(r["stage"], r["round"]): r for r in lines}
    return Run(
        path=path,
        config=_content(path / "config.json"),
        manifest=_content(path / "manifest.json"),
        records=[rounds[key] for key in sorted(rounds)],
        summary=_content(path / "summary.json"),
        analysis=_content(path / "analysis.json"),
        alarms=list(_lines(path / "alarms.jsonl")),
        value=_content(path / "value.json"),
    )


def _content(path: Path) -> dict[str, Any]:
    return read_json(path) if path.exists() else {}


def _lines(path: Path, *needed: str) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    *whole, unfinished = lines
    for number, line in enumerate(whole, start=1):
        try:
            record = parsed_object(line)
            if missing := set(needed) - record.keys():
                raise ValueError(f"it lacks '{min(missing)}'")
        except ValueError as error:
            raise StorageError(
                f"line {number} of '{path}' is damaged ({error}); remove it", "FS1104"
            ) from None
        yield record
    del unfinished  # a writer has not ended this line yet, or it is empty
