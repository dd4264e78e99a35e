"""Alarms of a run: on the screen, and in alarms.jsonl for report and live page."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from fedsemi.config.blueprint import Blueprint
from fedsemi.report.run import ALARMS, read_run
from fedsemi.runs.records import RoundRecord
from fedsemi.server.alarms import Alarm, Watchman
from fedsemi.storage import append, write_whole


class Bell:
    """Looks at each round of a run; one that is continued knows its earlier rounds."""

    def __init__(self, folder: Path, blueprint: Blueprint, console: Console) -> None:
        earlier = read_run(folder)
        names, settings = blueprint.class_names, blueprint.experiment.alarms
        self._watchman = Watchman(settings, names, earlier.records)
        self._path = folder / ALARMS
        self._console = console
        done = {(record.stage, record.round) for record in earlier.records}
        kept = [a for a in earlier.alarms if (a.stage, a.round) in done]
        write_whole(self._path, b"".join(map(_line, kept)))

    def ring(self, record: RoundRecord) -> None:
        """Tell of what the round gives reason to."""
        for alarm in self._watchman.look(record):
            append(self._path, _line(alarm))
            place = f"stage {alarm.stage + 1} round {alarm.round}"
            text = f"alarm, {place}: {alarm.what} {alarm.remedy}"
            self._console.print(text, style="yellow", soft_wrap=True)


def _line(alarm: Alarm) -> bytes:
    return (json.dumps(asdict(alarm)) + "\n").encode()
