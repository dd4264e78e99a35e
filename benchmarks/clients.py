"""Many clients that share one total of samples: time per round and memory."""

from __future__ import annotations

import json
import sys
import time

from benchmarks.common import (
    MISSED,
    PATIENCE,
    Federation,
    Section,
    against,
    make_clients,
    make_setup,
    run_apart,
)
from fedsemi.weights import num_bytes

_TOTAL = 10_000
_FEWEST = 10
_SIZE = 16


def clients(times: int) -> Section:
    """Item 6: 10 to 5000 clients."""
    cases = [
        (_FEWEST, 16),
        (100, 16),
        (1000, 16),
        (5000, 16),
        (_FEWEST, 32),
        (1000, 32),
    ]
    base: dict[int, float] = {}
    return Section(
        "Clients",
        f"SemiAnAgg, a tenth of the clients labeled, {_TOTAL:,} samples of 16x16 in "
        "all, two workers; the first round, in which clients also prepare. The server "
        "is in processor seconds. Memory is that of all processes together and "
        "leaves out mapped files, which the system can drop; *more memory* compares "
        "with 10 clients. Beyond 32 clients, answers and client memories lie on disk. "
        "The aim, four models and 50 MB, was set for 1000 clients.",
        [
            "clients",
            "model",
            "round",
            "server",
            "peak memory",
            "more memory",
            "aim",
            "",
        ],
        [_row(count, width, base) for count, width in cases],
    )


def _row(count: int, width: int, base: dict[int, float]) -> list[str]:
    cells = [f"{count}"]
    try:
        result, peak = run_apart("benchmarks.clients", str(count), str(width))
    except TimeoutError:
        return [*cells, *["–"] * 4, f"not done in {PATIENCE} s", "–", MISSED]
    cells += [f"{result['model']:.2f} MB", f"{result['seconds']:.1f} s"]
    cells += [f"{result['server']:.2f} s", f"{peak:.0f} MB"]
    more = peak - base.setdefault(width, peak)
    if count == _FEWEST:
        return [*cells, "–", "–", ""]
    return [*cells, *against(more, 4 * result["model"] + 50, "{:.0f} MB")]


def main(count: int, width: int) -> None:
    setup = make_setup(width=width, size=_SIZE)
    data = make_clients(count, _TOTAL // count, count // 10, _SIZE)
    federation = Federation("semianagg", setup, data, 2, prepared=False)
    with federation.engine:
        started, before = time.perf_counter(), time.process_time()
        federation()
        seconds = time.perf_counter() - started
        server = time.process_time() - before
    model = num_bytes(federation.state.weights) / 2**20
    print(json.dumps({"seconds": seconds, "server": server, "model": model}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
