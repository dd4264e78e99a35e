"""Run an experiment with a person watching: show it, record it."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from fedsemi.config.blueprint import Blueprint
from fedsemi.config.privacy import said_of
from fedsemi.config.setting import departures, own_conditions
from fedsemi.data.dataset import ImageSet
from fedsemi.engines.allocator import keep_freed_memory
from fedsemi.engines.in_process import one_thread
from fedsemi.errors import (
    ConfigError,
    FedSemiError,
    Interrupted,
    OutOfMemory,
    StorageError,
    lacks_memory,
)
from fedsemi.report.analysis import Analysis
from fedsemi.report.bell import Bell
from fedsemi.report.companion import companion_of, curve_of
from fedsemi.report.run import read_run
from fedsemi.runs.folder import RunFolder
from fedsemi.runs.records import Step
from fedsemi.runs.stop_signals import StopSignals
from fedsemi.server.running_mean import delivered
from fedsemi.simulation.build import Simulation
from fedsemi.simulation.run import run_simulation
from fedsemi.use.progress import Progress


def run_and_record(
    simulation: Simulation,
    out: Path,
    title: str,
    workers: int,
    console: Console,
    checkpoint_every: int = 1,
) -> tuple[Step, dict[str, Any]]:
    """Run an experiment with a progress display; keep its record in `out`.

    Returns the last step and the summary.
    """
    workers = workers or available_cores()
    steps = run_simulation(simulation, workers)
    return record_new_run(
        simulation, steps, out, title, console, checkpoint_every, workers
    )


def record_new_run(
    blueprint: Blueprint,
    steps: Iterator[Step],
    out: Path,
    title: str,
    console: Console,
    checkpoint_every: int = 1,
    workers: int = 1,
) -> tuple[Step, dict[str, Any]]:
    """Show and record the steps of a new experiment, wherever it runs."""
    with RunFolder.new(out, blueprint, overwrite=True) as folder:
        last, summary = record_run(
            folder, blueprint, steps, title, console, checkpoint_every, workers
        )
    assert last is not None, "a new run has a round or an error"
    return last, summary


def record_run(
    folder: RunFolder,
    blueprint: Blueprint,
    steps: Iterator[Step],
    title: str,
    console: Console,
    checkpoint_every: int = 1,
    workers: int = 1,
    display: type[Progress] = Progress,
    test: ImageSet | None = None,
) -> tuple[Step | None, dict[str, Any]]:
    """Show and record the steps that a folder lacks, and save every few rounds.

    The number of workers serves the estimate of the time left and the last test, the
    kind of display decides what is shown of a round, and a coordinator's test images
    are what its last model is judged on; a simulation has its own.

    Returns:
        The last step, None if all rounds were done before, and the summary.
    """
    keep_freed_memory()
    elsewhere = departures(blueprint.experiment, blueprint.clients())
    own = own_conditions(blueprint.experiment)
    for notice in (*folder.notices, *elsewhere, *own):
        console.print(notice, soft_wrap=True, highlight=False)
    if folder.start is None and blueprint.experiment.start is not None:
        # Outside of what is resumable: to continue would meet the same file.
        blueprint.initial_weights()
    if blueprint.experiment.privacy.masked:
        told = said_of(blueprint.experiment.privacy, blueprint.experiment.guard)
        console.print(told, soft_wrap=True, highlight=False)
    encoder = blueprint.model.encoder
    if encoder is not None and encoder.is_cached:
        told = "a frozen encoder: what it makes of a picture is computed once and kept"
        console.print(f"{told}, so that the first rounds take longer", soft_wrap=True)
    try:
        analysis = Analysis(folder.path, blueprint, test)
        shown = display(blueprint, title, console, workers)
        so_far = read_run(folder.path)
        alone = companion_of(so_far)
        shown.remember(so_far.records, curve_of(alone) if alone else {})
        with one_thread(), shown as progress:
            bell = Bell(folder.path, blueprint, console)
            last = _record(folder, steps, progress, bell, checkpoint_every)
        end = last or folder.start
        if end is None:
            raise ConfigError("the stages have no rounds, so there is nothing to do")
        weights = delivered(blueprint.experiment, end)
        with one_thread():
            analysis.finish(weights, workers)
        _tell_stop(last, folder, console)
        return last, folder.finish(weights)
    except (Interrupted, StorageError, OutOfMemory) as error:
        raise _resumable(error, folder) from error
    except Exception as error:
        if not lacks_memory(error):
            raise
        raise _resumable(OutOfMemory("there is no memory left"), folder) from error


def _tell_stop(last: Step | None, folder: RunFolder, console: Console) -> None:
    """Say that a privacy budget has ended the run, if it has."""
    spent = last.record.privacy if last else None
    if last and spent and spent.stops:
        text = f"{spent.stops}; the model of round {last.record.round} is in"
        console.print(f"{text} {folder.path}", soft_wrap=True, highlight=False)


def _resumable(error: FedSemiError, folder: RunFolder) -> FedSemiError:
    """Return the same error with what to do next."""
    return type(error)(f"{error.args[0]}; {folder.remedy}", error.code)


def _record(
    folder: RunFolder,
    steps: Iterator[Step],
    progress: Progress,
    bell: Bell,
    checkpoint_every: int,
) -> Step | None:
    last: Step | None = None
    with StopSignals() as stop, _closing(steps):
        for last in steps:
            folder.append(last)
            progress.show(last.record)
            bell.ring(last.record)
            record = last.record
            stops = record.privacy.stops if record.privacy else None
            over = record.round == record.rounds or stops is not None
            due = record.round % checkpoint_every == 0 or over
            if due or stop.asked:
                folder.save(last)
            if stop.asked:
                raise Interrupted(f"stop requested, saved after round {record.round}")
    return last


@contextmanager
def _closing(steps: Iterator[Step]) -> Iterator[None]:
    """End the engine at once, not when its generator happens to be collected."""
    try:
        yield
    finally:
        if isinstance(steps, Generator):
            steps.close()


def available_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0))
