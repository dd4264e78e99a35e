"""A journal keeps what it acknowledged, through kills at any moment."""

from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fedsemi.deployment.site.journal import opened, read
from fedsemi.errors import StorageError

_WRITER = """
import sys
from pathlib import Path
from fedsemi.deployment.site.journal import opened
for number in range(10**9):
    with opened(Path(sys.argv[1])) as journal:
        journal.add({"by": sys.argv[2], "number": number, "text": "x" * 5000})
    print(number, flush=True)
"""


def add(path: Path, *numbers: int) -> None:
    with opened(path) as journal:
        journal.add(*({"number": number} for number in numbers))


def test_lines_come_back_in_order_and_are_nobody_elses(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    assert read(path) == [] and not path.exists()
    add(path, 1, 2)
    add(path, 3)
    assert [entry["number"] for entry in read(path)] == [1, 2, 3]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_a_torn_last_line_does_not_count_and_the_next_one_does(
    tmp_path: Path, cut: int
) -> None:
    path = tmp_path / "journal.jsonl"
    add(path, 1)
    whole = path.read_bytes()
    add(path, 2)
    path.write_bytes(path.read_bytes()[: len(whole) + cut])
    assert [entry["number"] for entry in read(path)] == [1]
    add(path, 3)
    assert [entry["number"] for entry in read(path)] == [1, 3]


@pytest.mark.parametrize(
    ("spoil", "line"),
    [
        (lambda lines: [lines[0].replace(b"1", b"7", 1), *lines[1:]], 2),
        (lambda lines: [lines[0], *lines[2:]], 2),
        (lambda lines: lines[1:], 1),
        (lambda lines: [lines[0], b"{}\n", *lines[1:]], 2),
        (lambda lines: [lines[0], b"[", *lines[1:]], 2),
        (lambda lines: [lines[0], lines[0], *lines[1:]], 2),
    ],
)
def test_a_line_that_was_changed_or_taken_out_shows(tmp_path, spoil, line) -> None:
    path = tmp_path / "journal.jsonl"
    add(path, 1, 2, 3)
    path.write_bytes(b"".join(spoil(path.read_bytes().splitlines(keepends=True))))
    with pytest.raises(StorageError, match=f"FS6104 line {line} of"):
        read(path)


def test_nothing_is_written_through_a_planted_link(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="FS1201"):
        add(tmp_path / "journal.jsonl", 1)
    assert not (tmp_path / "elsewhere").exists()


def _writer(path: Path, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _WRITER, str(path), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_no_kill_takes_an_acknowledged_line(tmp_path: Path) -> None:
    """Two processes write at once; each is killed again and again."""
    path, draw = tmp_path / "journal.jsonl", random.Random(3)
    acknowledged: dict[str, int] = {}
    for trial in range(4):
        names = f"a{trial}", f"b{trial}"
        writers = {name: _writer(path, name) for name in names}
        for writer in writers.values():
            assert writer.stdout and writer.stdout.readline() == "0\n"
        time.sleep(draw.uniform(0, 0.1))
        for name, writer in writers.items():
            os.kill(writer.pid, signal.SIGKILL)
            said, _ = writer.communicate()
            whole = [
                line for line in said.splitlines(keepends=True) if line[-1] == "\n"
            ]
            acknowledged[name] = int(whole[-1]) if whole else 0
    entries = read(path)
    for name, last in acknowledged.items():
        numbers = [entry["number"] for entry in entries if entry["by"] == name]
        assert numbers == list(range(len(numbers))) and len(numbers) > last
