"""Train on the labels of a run alone, beside it, to see what the others brought."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from fedsemi.config.experiment import Experiment, load_config
from fedsemi.config.labels_only import (
    METHOD,
    begins_with_labels_only,
    labels_only,
)
from fedsemi.errors import ConfigError, Mismatch, StorageError
from fedsemi.report.companion import FOLDER, SAME
from fedsemi.runs.checkpoint import Checkpoint, read_checkpoint
from fedsemi.runs.folder import WARM_UP, RunFolder, read_json
from fedsemi.simulation.build import Simulation
from fedsemi.simulation.run import run_simulation
from fedsemi.use.progress import Progress
from fedsemi.use.resuming import config_of, kept_by_sites, refuse_coordinators_run
from fedsemi.use.session import available_cores, record_run

Build = Callable[[Experiment], Simulation]
"""Joins an experiment with its data."""


def train_labels_only(
    run: Path,
    build: Build,
    workers: int,
    console: Console,
    remedy: str,
    display: type[Progress] = Progress,
) -> Path:
    """Train what a run is measured against, or the rest of it; return its folder.

    It has the data, seed and rounds of the run, and begins where its warm-up ended if
    that is how training on labels begins; so it has the bits of a training on labels
    from the first round on.

    Args:
        run: The folder of a run, finished or not.
        build: Reads the data.
        workers: Worker processes; 0 for one per core.
        console: Where it is shown.
        remedy: What to do if it is stopped.
        display: How its rounds are shown.
    """
    refuse_coordinators_run(run)
    experiment = load_config(config_of(run))
    if {stage.method for stage in experiment.stages} == {METHOD}:
        raise ConfigError(
            f"'{run}' has learned from labels alone already; give a run of a method "
            "that uses unlabeled images",
            code="FS4180",
        )
    simulation = build(labels_only(experiment))
    _refuse_other_data(run, simulation)
    out, cores = run / FOLDER, workers or available_cores()
    with _folder(out, simulation, run, begins_with_labels_only(experiment)) as folder:
        folder.remedy = remedy
        steps = run_simulation(simulation, cores, folder.start)
        title = f"{run.resolve().name}, labels alone"
        record_run(
            folder, simulation, steps, title, console, workers=cores, display=display
        )
    return out


def _refuse_other_data(run: Path, simulation: Simulation) -> None:
    known, now = read_json(run / "manifest.json"), simulation.provenance()
    changed = [n for n in SAME if known.get(n) != now[n]]
    if changed:
        raise Mismatch(
            f"{' and '.join(changed)} are not those of '{run}' any more, so labels "
            "alone could not be compared with it; put its data back, or run it again",
            code="FS4181",
        )


def _folder(out: Path, simulation: Simulation, run: Path, shares: bool) -> RunFolder:
    """Go on where it was stopped; one of other settings or data begins anew."""
    if any(out.glob("ckpt-*")):
        try:
            return RunFolder.resume(out, simulation)
        except Mismatch:
            pass
    start = _end_of_warm_up(run) if shares else None
    if start is not None:
        try:
            return RunFolder.fork(out, simulation, run, start, overwrite=True)
        except (Mismatch, StorageError):
            pass  # of other data, or without its log: all rounds are made again
    return RunFolder.new(out, simulation, overwrite=True)


def _end_of_warm_up(run: Path) -> Checkpoint | None:
    """Open the checkpoint that a run kept, if it is sound and has all memories."""
    try:
        found = read_checkpoint(run / WARM_UP)
    except StorageError:
        return None
    return None if kept_by_sites(found) else found
