"""Train with a person watching: conduct, show, record."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from fedsemi.blueprint import Blueprint
from fedsemi.build import Simulation
from fedsemi.engines.allocator import keep_freed_memory
from fedsemi.engines.in_process import one_thread
from fedsemi.errors import ConfigError
from fedsemi.experiment import Step, conduct
from fedsemi.progress import Progress
from fedsemi.report.analysis import Analysis
from fedsemi.run_folder import RunFolder


def train(
    simulation: Simulation, out: Path, title: str, workers: int, console: Console
) -> tuple[Step, dict[str, Any]]:
    """Conduct an experiment with a progress display; keep its record in `out`.

    Returns the last step and the summary.
    """
    steps = conduct(simulation, workers or available_cores())
    return follow(simulation, steps, out, title, console)


def follow(
    blueprint: Blueprint, steps: Iterator[Step], out: Path, title: str, console: Console
) -> tuple[Step, dict[str, Any]]:
    """Show and record the steps of an experiment, wherever it is conducted."""
    keep_freed_memory()
    folder = RunFolder(out, blueprint)
    analysis = Analysis(out, blueprint)
    last: Step | None = None
    with one_thread(), Progress(blueprint.experiment, title, console) as progress:
        for last in steps:
            folder.append(last.record)
            progress.show(last.record)
    if last is None:
        raise ConfigError("the stages have no rounds, so there is nothing to do")
    analysis.finish(last.weights)
    return last, folder.finish(last)


def available_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0))
