"""The demonstration: SemiAnAgg between its two bounds, on embedded real images."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from fedsemi.config.experiment import Experiment
from fedsemi.config.labels_only import labels_only
from fedsemi.evidence.stats import gap_closed
from fedsemi.runs.records import Step
from fedsemi.simulation.build import build
from fedsemi.text.printable import typed
from fedsemi.use.progress import bar, client_table, duration
from fedsemi.use.session import run_and_record


@dataclass(frozen=True)
class Result:
    """One of the three runs of a comparison."""

    title: str
    last: Step
    summary: dict[str, Any]

    @property
    def accuracy(self) -> float:
        """Mean accuracy of the last ten tested rounds."""
        return float(self.summary["result"]["mean_of_last_10"]["accuracy"])


def upper_bound(experiment: Experiment) -> Experiment:
    """Train as if every client had labels, for as many rounds."""
    partition = experiment.partition.model_copy(
        update={"labeled_clients": "all", "labeled_fraction": None, "sha256": None}
    )
    return labels_only(experiment).model_copy(update={"partition": partition})


def run_demo(
    experiment: Experiment,
    out: Path,
    workers: int,
    console: Console,
    data_dir: Path | None = None,
    overrides: Sequence[str] = (),
) -> list[Result]:
    """Run the experiment and both of its bounds, compare them, and say what is next.

    Args:
        experiment: What to run.
        out: The folder of the three runs.
        workers: Worker processes; 0 for one per core.
        console: Where it is shown.
        data_dir: The folder of the data sets.
        overrides: The settings that the shipped config was changed by.
    """
    plan = {
        "lower bound": labels_only(experiment),
        experiment.stages[-1].method: experiment,
        "upper bound": upper_bound(experiment),
    }
    results = []
    for title, each in plan.items():
        folder = out / title.replace(" ", "-")
        simulation = build(each, data_dir)
        # Rounds are short: a checkpoint after each would be a good part of the time.
        last, summary = run_and_record(simulation, folder, title, workers, console, 20)
        results.append(Result(title, last, summary))
    _print_comparison(results, out, console)
    activate = Path(sys.executable).with_name("activate")
    if shutil.which("fedsemi") is None and activate.exists():
        # `make demo` runs it by its path; whoever types on needs the shell to find it.
        console.print(f"once in this terminal: {typed('.', activate)}", soft_wrap=True)
    console.print("next:")
    for command, why in next_commands(out, data_dir, overrides).items():
        console.print(f"  {command}  # {why}", soft_wrap=True, highlight=False)
    return results


def next_commands(
    out: Path, data_dir: Path | None, overrides: Sequence[str]
) -> dict[str, str]:
    """Say what to type next, and why."""
    where = ("--data-dir", data_dir) if data_dir else ()
    changed = [word for each in overrides for word in ("--set", each)]
    method = "rscfed"
    own = out.with_name(f"{out.name}-{method}")
    run = ("run", "demo", *changed, "--set", f"stages.1.method={method}")
    return {
        typed("fedsemi", "report", out): "the three runs side by side, as a page",
        typed("fedsemi", *run, *where, "--out", own): "another method",
        typed("fedsemi", "configs", "demo"): "a copy of the config, to be changed",
    }


def _print_comparison(results: list[Result], out: Path, console: Console) -> None:
    lower, middle, upper = results
    table = Table(box=None, header_style="dim", padding=(0, 1))
    for name in ("", "labels used", "accuracy", ""):
        table.add_column(name, justify="right" if name == "accuracy" else "left")
    labels = ("labeled clients", "labeled clients", "all clients")
    for result, used in zip(results, labels, strict=True):
        table.add_row(
            result.title, used, f"{result.accuracy:.2%}", bar(result.accuracy, 30)
        )
    console.print()
    console.print(f"What each client contributed in the last round of {middle.title}:")
    console.print(client_table(middle.last.record))
    console.print()
    console.print("Accuracy on the test set, mean of the last ten rounds:")
    console.print(table)
    closed = gap_closed(middle.accuracy, lower.accuracy, upper.accuracy)
    if closed is not None:
        console.print(
            f"{middle.title} closes {closed:.0%} of the gap that missing labels leave."
        )
    seconds = sum(result.summary["seconds"] for result in results)
    console.print(f"{duration(seconds)} of training; records in {out}", soft_wrap=True)
