"""Train with a person watching: conduct, show, record."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rich.console import Console

from fedsemi.build import Simulation
from fedsemi.engines.in_process import one_thread
from fedsemi.errors import ConfigError
from fedsemi.experiment import Step, conduct
from fedsemi.progress import Progress
from fedsemi.run_folder import RunFolder


def train(
    simulation: Simulation, out: Path, title: str, workers: int, console: Console
) -> tuple[Step, dict[str, Any]]:
    """Conduct an experiment with a progress display; keep its record in `out`.

    Returns the last step and the summary.
    """
    folder = RunFolder(out, simulation)
    last: Step | None = None
    with one_thread(), Progress(simulation.experiment, title, console) as progress:
        for last in conduct(simulation, workers or available_cores()):
            folder.append(last.record)
            progress.show(last.record)
    if last is None:
        raise ConfigError("the stages have no rounds, so there is nothing to do")
    return last, folder.finish(last)


def available_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0))
