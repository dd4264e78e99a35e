"""Run benchmarks by name, or all of them and write the results."""

from __future__ import annotations

import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Sequence

import torch

from benchmarks.aggregation import aggregation
from benchmarks.clients import clients
from benchmarks.common import MET, MISSED, ROOT, Section
from benchmarks.counts import counts
from benchmarks.deployment import deployment
from benchmarks.first_words import first_words
from benchmarks.flower_ray import flower
from benchmarks.groups import groups
from benchmarks.large import large
from benchmarks.limit import augmentation, limit, scale
from benchmarks.masks import masks
from benchmarks.precision import precision
from benchmarks.privacy import privacy
from benchmarks.reference import cores, reference
from benchmarks.rounds import bf16_rounds, rounds
from fedsemi.engines.allocator import keep_freed_memory
from fedsemi.use.session import available_cores

ITEMS: dict[str, Callable[[int], Section]] = {
    "first_words": first_words,
    "limit": limit,
    "reference": reference,
    "cores": cores,
    "augmentation": augmentation,
    "aggregation": aggregation,
    "scale": scale,
    "precision": precision,
    "rounds": rounds,
    "bf16_rounds": bf16_rounds,
    "large": large,
    "flower": flower,
    "clients": clients,
    "deployment": deployment,
}
"""The longest come last: the results are written after each of them."""
BY_NAME: dict[str, Callable[[int], Section]] = {
    "counts": counts,
    "groups": groups,
    "masks": masks,
    "privacy": privacy,
}
"""What sites reveal, and what hides it: on the pages about that; run when named."""


def main(names: list[str], times: int = 5) -> None:
    torch.set_num_threads(1)
    keep_freed_memory()
    parts: list[str] = []
    for name in names or ITEMS:
        part = _measured(name, times)
        print(part, flush=True)
        parts.append(part)
        if not names:
            text = "\n".join([_head(parts), *parts])
            (ROOT / "benchmarks" / "results.md").write_text(text, "utf-8")
    print(_score(parts))


def _measured(name: str, times: int) -> str:
    """Run one item; what goes wrong in it is written down and stops no other."""
    before, started = os.getloadavg()[0], time.perf_counter()
    try:
        part = (ITEMS | BY_NAME)[name](times).markdown()
    except Exception as error:
        part = f"## {name.capitalize()}\n\nNot measured: {error}\n"
        traceback.print_exc()
    seconds = time.perf_counter() - started
    load = f"load average {before:.1f} before, {os.getloadavg()[0]:.1f} after"
    return f"{part}\nMeasured in {seconds:.0f} s, {load}.\n"


def _score(parts: Sequence[str]) -> str:
    """Count the aims."""
    text = "".join(parts)
    met, missed = text.count(f"| {MET} |"), text.count(f"| {MISSED} |")
    return f"{met} of {met + missed} aims met."


def _head(parts: Sequence[str]) -> str:
    return (
        "# Benchmark results\n\n"
        "Written by `make bench`. Contenders take turns within one run and the medians "
        "are compared, so ratios carry over to other machines better than seconds.\n\n"
        f"{available_cores()} cores, {platform.machine()}, torch {torch.__version__}, "
        f"{torch.backends.cpu.get_cpu_capability()}. {_score(parts)}\n"
    )


if __name__ == "__main__":
    known = ITEMS | BY_NAME
    unknown = [name for name in sys.argv[1:] if name not in known]
    if unknown:
        sys.exit(f"unknown benchmark '{unknown[0]}'; known are {', '.join(known)}")
    main(sys.argv[1:])
