"""fedsemi, also in bf16, and a bare loop with its settings: the fifth word asks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace

import torch

from benchmarks.bare_loop import BareLoop
from benchmarks.common import Federation, make_clients, make_setup
from benchmarks.peers.work import LEARNING_RATE, Job, main, now
from fedsemi.engines.allocator import keep_freed_memory
from fedsemi.models.precision import check_precision
from fedsemi.objectives.workbench import LocalTraining


def run(job: Job) -> list[float]:
    """Run rounds of FedAvg on one clean view."""
    # A momentum that lives on is no part of FedAvg, and nobody else has it.
    local = LocalTraining(batch_size=32, lr_labeled=LEARNING_RATE, keep_momentum=False)
    precision = "bf16" if sys.argv[5:] == ["bf16"] else "float32"
    setup = replace(make_setup(), local=local, precision=precision)
    if sys.argv[5:] == ["bare"]:
        bare = BareLoop(setup, job.clients, job.images, job.processes)
        marks = _timed(bare, job.rounds)
        bare.close()
        return marks
    clients = make_clients(job.clients, job.images, job.clients)
    several = job.processes if job.processes > 1 else 0
    whole = Federation(
        "supervised", setup, clients, several, prepared=False, views="clean"
    )
    with whole.engine:
        return _timed(whole, job.rounds)


def _timed(round_: Callable[[], None], rounds: int) -> list[float]:
    marks = [now()]
    for _ in range(rounds):
        round_()
        marks.append(now())
    return marks


if __name__ == "__main__":
    keep_freed_memory()
    if sys.argv[5:] == ["bf16"]:
        check_precision("bf16", "cpu")
    main(run, f"torch {torch.__version__}")
