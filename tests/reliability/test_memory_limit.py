"""LD-8: a run that finds no memory says so if it can, and can be continued."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
from pathlib import Path
from typing import Any

import torch._dynamo  # noqa: F401  torch imports it with the first optimizer

from fedsemi.build import build
from fedsemi.config import make_experiment
from fedsemi.errors import FedSemiError

ROOM = 100_000_000
"""Bytes beyond what the process has; with more, this run always ends."""
CRASHES = (f"exit {-signal.SIGSEGV}", f"exit {-signal.SIGABRT}")
"""Without memory, torch may crash in its own code; then no line can be printed."""
CONTENT: dict[str, Any] = {
    "data": {"name": "synthetic", "train_limit": 64, "test_limit": 32},
    "partition": {"num_clients": 2, "labeled_clients": 1, "min_size": 20},
    "model": {"name": "resnet8", "width": 24},
    "stages": [
        {"method": "supervised", "rounds": 1},
        {"method": "semianagg", "rounds": 1},
    ],
}


def starved(work: Any, room: int | None = None) -> str:
    """Do something in a process, with little memory if wanted; say how it ended."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if room is not None:
                size = int(Path("/proc/self/statm").read_text().split()[0])
                limit = size * os.sysconf("SC_PAGE_SIZE") + room
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            work()
            word = b"done"
        except FedSemiError as error:
            word = error.code.encode()
        except BaseException as error:
            word = repr(error)[:200].encode()
        os.write(write, word)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        word = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return word.decode() or f"exit {status}"


def digests(path: Path) -> dict[str, str]:
    summary = json.loads((path / "summary.json").read_bytes())
    return {name: summary[name] for name in ("model_sha256", "metrics_sha256")}


def test_a_run_without_memory_says_so_and_can_be_continued(
    toy: Any, go: Any, tmp_path: Path, times: Any, promise: Any
) -> None:
    # Everything learns in children: what this process freed, they could still use. The
    # toy's run has imported what a run imports: native code may crash half imported.
    assert toy.undisturbed
    simulation = build(make_experiment(CONTENT))
    assert starved(lambda: go(tmp_path / "whole", simulation)) == "done"
    rng, ends = random.Random(8), list[str]()
    failed = 0
    for number in range(times(3, 50)):
        path = tmp_path / f"run-{number}"
        room = rng.randrange(ROOM)
        ends.append(starved(lambda path=path: go(path, simulation), room))
        last = starved(lambda path=path: go(path, simulation))
        same = last == "done" and digests(path) == digests(tmp_path / "whole")
        failed += ends[-1] not in ("done", "FS7101", *CRASHES) or not same
    promise("LD-8 runs with little memory, resumed to the same bits", len(ends), failed)
    # A process that ran many tests may have enough freed memory for a few runs.
    assert failed == 0 and (len(ends) < 10 or "FS7101" in ends), sorted(ends)
