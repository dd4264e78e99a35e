"""One process works in a folder, and the next one is told who it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fedsemi.errors import CannotCreate, RunInUse
from fedsemi.runs.lock import RunLock


def test_a_folder_is_held_until_it_is_released(tmp_path: Path) -> None:
    lock = RunLock(tmp_path)
    with pytest.raises(RunInUse, match=f"FS1401 .*in use by pid {os.getpid()} since"):
        RunLock(tmp_path)
    lock.release()
    RunLock(tmp_path).release()


def test_the_file_of_a_process_that_died_holds_nobody_up(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text("pid 4242 since 1999-12-31 23:59, a longer line\n")
    lock = RunLock(tmp_path)
    assert (tmp_path / ".lock").read_text().startswith(f"pid {os.getpid()} ")
    assert "1999" not in (tmp_path / ".lock").read_text()
    lock.release()


def test_a_folder_that_is_not_there_cannot_be_locked(tmp_path: Path) -> None:
    with pytest.raises(CannotCreate, match=r"FS1200 cannot make '.*/none/\.lock'"):
        RunLock(tmp_path / "none")
