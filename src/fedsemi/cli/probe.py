"""The command that asks how much a frozen encoder knows."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from fedsemi.cli.options import DataDir
from fedsemi.config.experiment import make_experiment
from fedsemi.engines.in_process import one_thread
from fedsemi.report.run import read_run
from fedsemi.runs.folder import MODEL
from fedsemi.simulation.build import build
from fedsemi.simulation.linear_probe import linear_probe
from fedsemi.storage import read_weights
from fedsemi.text.screen import Screen


class Which(StrEnum):
    """Whose labels the probe learns from."""

    all = "all"
    labeled = "labeled"


def probe(
    run: Annotated[Path, typer.Argument(help="A run's folder.", show_default=False)],
    labels: Annotated[
        Which, typer.Option(help="Of all clients (upper), or of labeled ones (lower).")
    ] = Which.all,
    data_dir: DataDir = None,
) -> None:
    """Train a linear layer on the frozen encoder of a run, and test it.

    The epoch is chosen on held-out training labels, never on the test set.

    Example: fedsemi probe runs/fedbarlow --labels labeled
    """
    experiment = make_experiment(read_run(run).config)
    simulation = build(experiment, data_dir)
    setup = simulation.setup(experiment.stages[-1])
    weights = read_weights(run / MODEL)
    with one_thread():
        result = linear_probe(simulation, setup, weights, labels.value)
    table = Table(box=None, header_style="dim", padding=(0, 2))
    for name in ("labels", "epoch", "held out", "accuracy", "B-Acc", "AUC"):
        table.add_column(name)
    test = result.test
    table.add_row(
        f"{labels.value}, {result.num_labels}",
        str(result.epoch),
        f"{result.held_out_accuracy:.2%}",
        f"{test.accuracy:.2%}",
        f"{test.balanced_accuracy:.2%}",
        "–" if test.auc is None else f"{test.auc:.2%}",
    )
    Screen().print(table)
