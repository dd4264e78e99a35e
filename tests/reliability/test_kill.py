"""CR-1 and CR-8: a run that is killed or stopped ends in the same bits."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fedsemi.storage
from fedsemi.errors import FedSemiError

SEED = 20


def child(work: Callable[[], object]) -> int:
    """Run something in a process of its own; return its id."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except FedSemiError as error:
            os._exit(error.exit_code)
        except BaseException:
            os._exit(99)
    return pid


def exit_code(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def suicidal(countdown: int, share: float) -> Callable[..., None]:
    """End the process at the n-th call; a write is done in part before."""
    left = [countdown]

    def before(name: str, arguments: tuple[Any, ...]) -> None:
        left[0] -= 1
        if left[0] <= 0:
            if name == "write":
                data = bytes(arguments[1])
                os.write(arguments[0], data[: int(share * len(data))])
            os.kill(os.getpid(), signal.SIGKILL)

    return before


def series(
    kills: int, disturb: Callable[[Path], bool], path: Path, same: Callable[[Path], int]
) -> tuple[int, int]:
    """Disturb runs until so many kills hit; count kills and diverging runs."""
    done = failed = 0
    while done < kills:
        if disturb(path):
            done += 1
        if (path / "summary.json").exists():
            failed += same(path)
            shutil.rmtree(path)
    return done, failed


@pytest.fixture
def same(simulation: Any, go: Any, undisturbed: dict[str, Any]) -> Any:
    def diverges(path: Path) -> int:
        done = path / "summary.json"
        summary = json.loads(done.read_bytes()) if done.exists() else None
        summary = summary or go(path, simulation)
        return int(any(summary[name] != undisturbed[name] for name in undisturbed))

    return diverges


def test_runs_killed_at_random_moments_end_in_the_same_bits(
    simulation: Any, go: Any, same: Any, tmp_path: Path, times: Any, promise: Any
) -> None:
    rng = random.Random(SEED)
    started = time.monotonic()
    assert exit_code(child(lambda: go(tmp_path / "probe", simulation))) == 0
    duration = time.monotonic() - started

    def disturb(path: Path) -> bool:
        pid = child(lambda: go(path, simulation))
        time.sleep(rng.uniform(0, duration))
        os.kill(pid, signal.SIGKILL)
        code = exit_code(pid)
        assert code in (0, -signal.SIGKILL)
        return code != 0

    path = tmp_path / "run"
    tried, failed = series(times(10, 200), disturb, path, same)
    failed += same(path)
    promise("CR-1 kill -9 at a random moment", tried, failed)
    assert failed == 0


def test_runs_killed_in_the_middle_of_writing_end_in_the_same_bits(
    simulation: Any,
    go: Any,
    same: Any,
    failing: Any,
    tmp_path: Path,
    times: Any,
    promise: Any,
) -> None:
    rng = random.Random(SEED + 1)

    def disturb(path: Path) -> bool:
        def work() -> None:
            fedsemi.storage.os = failing(suicidal(count, share))
            go(path, simulation)

        count, share = rng.randrange(1, 120), rng.random()
        code = exit_code(child(work))
        assert code in (0, -signal.SIGKILL)
        return code != 0

    path = tmp_path / "run"
    tried, failed = series(times(10, 100), disturb, path, same)
    failed += same(path)
    promise("CR-1 kill -9 aimed at a file operation", tried, failed)
    assert failed == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_run_saves_and_can_be_continued(
    number: int,
    simulation: Any,
    go: Any,
    same: Any,
    tmp_path: Path,
    times: Any,
    promise: Any,
) -> None:
    rng = random.Random(SEED + number)
    tried = failed = 0
    while tried < times(3, 50):
        path = tmp_path / f"run-{tried}"
        pid = child(lambda path=path: go(path, simulation))
        while not (path / "ckpt-000001.fsck").exists():
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.1))
        os.kill(pid, number)
        asked = time.monotonic()
        code = exit_code(pid)
        in_time = time.monotonic() - asked < 30
        # Code 0: the run was over before the signal came.
        ok = in_time and (code == 75 or (path / "summary.json").exists())
        failed += (not ok) or same(path)
        tried += 1
    promise(f"CR-8 {signal.Signals(number).name} saves, exits 75", tried, failed)
    assert failed == 0
