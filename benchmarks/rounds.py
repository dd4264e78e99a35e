"""Rounds of FedAvg with few and many clients, against a bare loop on as many cores."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from benchmarks.bare_loop import BareLoop
from benchmarks.common import (
    Federation,
    Section,
    against,
    make_clients,
    make_setup,
    worked,
)
from fedsemi.models.precision import check_precision
from fedsemi.objectives.workbench import LocalTraining, Setup

_CASES = ((10, 500, 5), (100, 50, 5), (1000, 50, 1))
"""Clients, images of each, and how often contenders take turns; once is without a
round before, to warm up."""
_PROCESSES = 2
_AIM = 1.15


def rounds(times: int) -> Section:
    """FedAvg rounds of 10 to 1000 clients."""
    rows = []
    for count, images, turns in _CASES:
        name = f"{count} clients of {images} images"
        rows.append(_row(name, _setup(), count, images, min(turns, times)))
    return _section("Rounds of many clients", "float32", rows)


def bf16_rounds(times: int) -> Section:
    """The same with few and some clients, in bf16."""
    check_precision("bf16", "cpu")
    setup = replace(_setup(), precision="bf16")
    rows = [
        _row(f"{count} clients of {images} images", setup, count, images, times)
        for count, images, _ in _CASES[:2]
    ]
    return _section("Rounds in bf16", "bf16", rows)


def _section(title: str, precision: str, rows: Sequence[Sequence[str]]) -> Section:
    return Section(
        title,
        f"A round of FedAvg on one clean view, `resnet8` at 32x32 in batches of 32, "
        f"{precision}, {_PROCESSES} processes each: the bare loop with our settings "
        "(channels last, kept memory, one network in each process), and fedsemi with "
        "gate and mean. Medians of contenders taking turns, by the clock and in "
        "processor seconds of all processes. By the clock this means something only "
        "where nothing else runs.",
        [
            *("", "bare loop", "fedsemi", "ratio"),
            *("bare, cpu", "fedsemi, cpu", "ratio, cpu", "aim", ""),
        ],
        rows,
    )


def _setup() -> Setup:
    # A momentum that lives on is no part of FedAvg, and the bare loop has none.
    local = LocalTraining(batch_size=32, keep_momentum=False)
    return replace(make_setup(), local=local)


def _row(name: str, setup: Setup, count: int, images: int, times: int) -> list[str]:
    clients = make_clients(count, images, count)
    bare = BareLoop(setup, count, images, _PROCESSES)
    often = times > 1
    ours = Federation(
        "supervised", setup, clients, _PROCESSES, prepared=often, views="clean"
    )
    with ours.engine:
        if often:
            bare()
        taken = _in_turn(((bare, bare.pids), (ours, ours.pids)), times)
    bare.close()
    (slow, idle), (fast, busy) = taken
    cells = [f"{slow:.2f} s", f"{fast:.2f} s", f"{fast / slow:.2f}"]
    cells += [f"{idle:.2f} s", f"{busy:.2f} s"]
    return [name, *cells, *against(busy / idle, _AIM, "{:.2f}")]


def _in_turn(
    contenders: Sequence[tuple[Callable[[], None], Sequence[int]]], times: int
) -> list[tuple[float, float]]:
    """Return the medians of seconds by the clock and of processor seconds."""
    taken: list[list[tuple[float, float]]] = [[] for _ in contenders]
    for _ in range(times):
        for (contender, pids), list_ in zip(contenders, taken, strict=True):
            start, before = time.perf_counter(), worked(pids)
            contender()
            busy = worked(pids) - before
            list_.append((time.perf_counter() - start, busy))
    return [
        (statistics.median(a for a, _ in each), statistics.median(b for _, b in each))
        for each in taken
    ]
