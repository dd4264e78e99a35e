"""Reading the folder of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from fedsemi.errors import StorageError
from fedsemi.report.run import read_run


def test_a_line_that_is_being_written_waits_for_the_next_time(make_run) -> None:
    folder = make_run(rounds=2)
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"stage": 0, "rou')
    assert [record.round for record in read_run(folder).records] == [1, 2]


def test_a_round_that_a_resumed_run_repeats_counts_once(make_run) -> None:
    folder = make_run(rounds=3)
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    again = lines[1].replace('"seconds": 1.0', '"seconds": 7.0')
    text = "\n".join([*lines[:2], again, lines[2]]) + "\n"
    (folder / "metrics.jsonl").write_text(text)
    assert [r.seconds for r in read_run(folder).records] == [1.0, 7.0, 1.0]


def test_a_damaged_line_is_named(make_run) -> None:
    folder = make_run(rounds=3)
    text = (folder / "metrics.jsonl").read_text().replace('"round": 2', '"round" 2')
    (folder / "metrics.jsonl").write_text(text)
    with pytest.raises(StorageError, match="line 2"):
        read_run(folder)


def test_another_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="not the folder of a run"):
        read_run(tmp_path)
