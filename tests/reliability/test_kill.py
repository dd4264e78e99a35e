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
def same(victim: Any, go: Any) -> Any:
    def diverges(path: Path) -> int:
        done = path / "summary.json"
        summary = json.loads(done.read_bytes()) if done.exists() else None
        summary = summary or go(path, victim.simulation)
        return int(any(summary[n] != sha for n, sha in victim.undisturbed.items()))

    return diverges


def test_runs_killed_at_random_moments_end_in_the_same_bits(
    victim: Any, go: Any, same: Any, tmp_path: Path, promise: Any
) -> None:
    rng = random.Random(SEED)
    started = time.monotonic()
    assert exit_code(child(lambda: go(tmp_path / "probe", victim.simulation))) == 0
    duration = time.monotonic() - started

    def disturb(path: Path) -> bool:
        pid = child(lambda: go(path, victim.simulation))
        time.sleep(rng.uniform(0, duration))
        os.kill(pid, signal.SIGKILL)
        code = exit_code(pid)
        assert code in (0, -signal.SIGKILL)
        return code != 0

    path = tmp_path / "run"
    tried, failed = series(victim.times(10, 200), disturb, path, same)
    failed += same(path)
    promise("CR-1 kill -9 at a random moment", tried, failed)
    assert failed == 0


def test_runs_killed_in_the_middle_of_writing_end_in_the_same_bits(
    victim: Any, go: Any, same: Any, failing: Any, tmp_path: Path, promise: Any
) -> None:
    rng = random.Random(SEED + 1)

    def disturb(path: Path) -> bool:
        def work() -> None:
            fedsemi.storage.os = failing(suicidal(count, share))
            go(path, victim.simulation)

        count, share = rng.randrange(1, 120), rng.random()
        code = exit_code(child(work))
        assert code in (0, -signal.SIGKILL)
        return code != 0

    path = tmp_path / "run"
    tried, failed = series(victim.times(10, 100), disturb, path, same)
    failed += same(path)
    promise("CR-1 kill -9 aimed at a file operation", tried, failed)
    assert failed == 0


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.005)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_run_saves_and_can_be_continued(
    number: int,
    victim: Any,
    go: Any,
    same: Any,
    drift: Any,
    tmp_path: Path,
    promise: Any,
) -> None:
    rng = random.Random(SEED + number)
    tried = failed = 0
    while tried < victim.times(3, 50):
        path = tmp_path / f"run-{tried}"

        def work(path: Path = path) -> None:
            drift.pause = 0.02
            go(path, victim.simulation)

        pid = child(work)
        wait_for(path / "ckpt-000001.fsck")
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


def test_a_second_signal_ends_the_run_at_once_and_it_can_be_continued(
    toy: Any, go: Any, drift: Any, tmp_path: Path, times: Any, promise: Any
) -> None:
    failed, tries, long = 0, times(2, 20), 60.0
    for number in range(tries):
        path = tmp_path / f"run-{number}"

        def work(path: Path = path) -> None:
            drift.pause_later = long
            go(path, toy.simulation)

        pid = child(work)
        wait_for(path / "ckpt-000002.fsck")
        asked = time.monotonic()
        for _ in range(2):
            time.sleep(0.1)
            os.kill(pid, signal.SIGINT)
        at_once = exit_code(pid) == 75 and time.monotonic() - asked < long / 2
        summary = go(path, toy.simulation)
        same = all(summary[name] == sha for name, sha in toy.undisturbed.items())
        failed += not (at_once and same)
    promise("CR-8 the second signal exits 75 at once", tries, failed)
    assert failed == 0
