"""Run an experiment again and again with little memory: `python starving.py COUNT`.

A process of its own, because memory that earlier tests freed could still be used by
what is forked from them. Prints how each run ended and whether it could be continued to
the same bits, as JSON.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch._dynamo  # noqa: F401  torch imports it with the first optimizer

import fedsemi.cli.train  # as if the command had been imported already
import fedsemi.use.session

ROOM = 100_000_000
"""Bytes beyond what the process has; with more, this run always ends."""
CONTENT: dict[str, Any] = {
    "data": {"name": "synthetic", "train_limit": 64, "test_limit": 32},
    "partition": {"num_clients": 2, "labeled_clients": 1, "min_size": 20},
    "model": {"name": "resnet8", "width": 24},
    "stages": [
        {"method": "supervised", "rounds": 1},
        {"method": "semianagg", "rounds": 1},
    ],
}


def command(*arguments: str, room: int | None = None) -> int:
    """Run the command line in a child, with little memory if wanted; return its end."""
    pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        if room is not None:
            size = int(Path("/proc/self/statm").read_text().split()[0])
            limit = size * os.sysconf("SC_PAGE_SIZE") + room
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        sys.argv = ["fedsemi", *arguments]
        try:
            fedsemi.cli.main()
        except SystemExit as end:
            os._exit(int(end.code or 0))
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def digests(path: Path) -> dict[str, str]:
    summary = json.loads((path / "summary.json").read_bytes())
    return {name: summary[name] for name in ("model_sha256", "metrics_sha256")}


def main(count: int, folder: Path) -> None:
    config, whole = folder / "config.json", folder / "whole"
    config.write_text(json.dumps(CONTENT))
    run = ("run", "--workers", "1")
    once = (*run, str(config), "--out")
    assert command(*once, str(whole)) == 0
    rng, ends = random.Random(8), list[tuple[int, bool]]()
    for number in range(count):
        path = folder / f"run-{number}"
        end = command(*once, str(path), room=rng.randrange(ROOM))
        # Without memory, a run may not even come to making its folder.
        again = (*run, "--resume") if path.exists() else once
        last = command(*again, str(path)) if end else 0
        ends.append((end, last == 0 and digests(path) == digests(whole)))
    print(json.dumps(ends))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[2]) as name:
        main(int(sys.argv[1]), Path(name))
