"""CR-1 with workers: a killed run leaves no process, and the next start no file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

MARK = "FEDSEMI_TEST_MARK"
PATIENCE = 60.0


def start(config: Path, out: Path, *more: str) -> subprocess.Popen[bytes]:
    """Start the command line with two workers; its whole family carries a mark."""
    arguments = ["run", *more, "--workers", "2"]
    if not more:
        arguments += [str(config), "--out", str(out)]
    return subprocess.Popen(
        [sys.executable, "-m", "fedsemi", *arguments],
        env={**os.environ, MARK: str(out), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def family(out: Path) -> list[int]:
    """List the processes that carry the mark, workers and their server included."""
    wanted, found = f"{MARK}={out}".encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            marked = wanted in (folder / "environ").read_bytes().split(b"\0")
            zombie = b") Z " in (folder / "stat").read_bytes()
        except OSError:
            continue
        if marked and not zombie:
            found.append(int(folder.name))
    return found


def until(reached: Any) -> bool:
    end = time.monotonic() + PATIENCE
    while not reached():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def mailboxes(pid: int) -> list[Path]:
    return list(Path("/dev/shm").glob(f"fedsemi-{pid}-*"))


def survives(config: Path, out: Path, after: str, undisturbed: dict[str, str]) -> bool:
    """Kill a run as soon as a file is there; say whether all is well afterwards."""
    first = start(config, out)
    assert until(lambda: (out / after).exists() and mailboxes(first.pid))
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    nobody_left = until(lambda: not family(out))
    second = start(config, out, "--resume", str(out))
    done = second.wait() == 0
    summary = json.loads((out / "summary.json").read_bytes()) if done else {}
    same = all(summary.get(name) == sha for name, sha in undisturbed.items())
    clean = not mailboxes(first.pid) and not mailboxes(second.pid)
    return nobody_left and same and clean and until(lambda: not family(out))


@pytest.mark.slow
def test_a_killed_run_leaves_no_worker_and_the_next_start_no_mailbox(
    content: dict[str, Any],
    simulation: Any,
    go: Any,
    tmp_path: Path,
    times: Any,
    promise: Any,
) -> None:
    config = tmp_path / "run.json"
    config.write_text(json.dumps(content))
    whole = go(tmp_path / "whole", simulation)
    undisturbed = {name: whole[name] for name in ("model_sha256", "metrics_sha256")}
    tried = failed = 0
    for number in range(times(1, 10)):
        after = f"ckpt-{number % 3 + 1:06}.fsck"
        tried += 1
        failed += not survives(config, tmp_path / f"r{number}", after, undisturbed)
    promise("CR-1 kill -9 of a run with workers: no orphans, same bits", tried, failed)
    assert failed == 0
