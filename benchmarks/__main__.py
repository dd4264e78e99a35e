"""Run benchmarks by name, or all of them, and write the pages that show them."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable

import torch

from benchmarks.common import Section
from benchmarks.items import ITEMS
from benchmarks.pages import write_pages
from benchmarks.sections import WHOLE, Measured, here_and_now, keep
from fedsemi.engines.allocator import keep_freed_memory


def main(names: list[str], times: int = 5) -> int:
    """Measure, keep what was measured, and write the pages; return what failed."""
    torch.set_num_threads(1)
    keep_freed_memory()
    failed = 0
    for name in names or WHOLE:
        try:
            measured = measure(ITEMS[name], times)
            print(measured.markdown(), flush=True)
            keep(name, measured)
            write_pages()
        except Exception:  # what goes wrong in one stops no other
            traceback.print_exc()
            print(f"'{name}' was not measured or not written", flush=True)
            failed += 1
    return failed


def measure(act: Callable[[int], Section], times: int) -> Measured:
    """Run one item, and say when and where."""
    before, started = os.getloadavg()[0], time.perf_counter()
    section = act(times)
    return Measured(section, here_and_now(time.perf_counter() - started, before))


if __name__ == "__main__":
    unknown = [name for name in sys.argv[1:] if name not in ITEMS]
    if unknown:
        sys.exit(f"unknown benchmark '{unknown[0]}'; known are {', '.join(ITEMS)}")
    sys.exit(main(sys.argv[1:]))
