"""Alarms are written as every other file of a run is."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from fedsemi.errors import StorageError
from fedsemi.report.bell import Bell
from fedsemi.report.run import ALARMS, read_run
from fedsemi.runs.records import RoundRecord
from fedsemi.server.alarms import Alarm
from fedsemi.simulation.build import Simulation

ALARM = Alarm(stage=1, round=2, kind="accuracy", what="It fell.", remedy="Look at it.")


@pytest.fixture
def folder(real_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(real_run, tmp_path / "run"))


@pytest.fixture
def bell(folder: Path, simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> Bell:
    found = Bell(folder, simulation, Console(quiet=True))
    ringing = SimpleNamespace(look=lambda record: [ALARM])
    monkeypatch.setattr(found, "_watchman", ringing)
    return found


RECORD = RoundRecord(1, "semianagg", 2, 3, 1.0)


def test_an_alarm_is_kept_with_the_run(bell: Bell, folder: Path) -> None:
    earlier = list(read_run(folder).alarms)
    bell.ring(RECORD)
    assert read_run(folder).alarms == [*earlier, ALARM]


def test_an_alarm_on_a_full_disk_is_an_error_of_storage(
    bell: Bell, folder: Path
) -> None:
    (folder / ALARMS).unlink()
    (folder / ALARMS).symlink_to("/dev/full")
    with pytest.raises(StorageError, match=r"FS1201 cannot write .*alarms\.jsonl"):
        bell.ring(RECORD)
