"""`fedsemi run --labels-only DIR`: what a run is measured against."""

from __future__ import annotations

from pathlib import Path

from fedsemi.config.experiment import Experiment
from fedsemi.report.companion import sentence_of
from fedsemi.report.run import read_run
from fedsemi.simulation.build import Simulation, build
from fedsemi.text.printable import typed
from fedsemi.text.screen import Screen, tell
from fedsemi.use.labels_only import train_labels_only


def run_labels_only(run: Path, workers: int, data_dir: Path | None) -> None:
    """Train on the labels of a run alone, and say what the others brought."""
    console = Screen()
    where = ("--data-dir", data_dir) if data_dir else ()
    again = typed("fedsemi", "run", "--labels-only", run, *where)

    def read(experiment: Experiment) -> Simulation:
        return build(experiment, data_dir)

    out = train_labels_only(run, read, workers, console, f"continue with `{again}`")
    console.print(f"labels alone: records in {out}", soft_wrap=True)
    tell_of(run, console, data_dir)


def tell_of(run: Path, console: Screen, data_dir: Path | None = None) -> None:
    """Say whether the unlabeled sites of a run helped, if it had any."""
    sentence = sentence_of(read_run(run), data_dir=data_dir)
    if sentence is not None:
        tell(console, sentence)
