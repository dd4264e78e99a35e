"""Commands that train."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from fedsemi.build import build
from fedsemi.cli.options import ConfigPath, DataDir, Overrides, Workers
from fedsemi.config import load_config
from fedsemi.demo import run_demo
from fedsemi.methods import METHODS
from fedsemi.progress import client_table, duration
from fedsemi.session import train

_DEMO = Path(__file__).parent.parent / "demo.toml"


def demo(
    overrides: Overrides = None,
    out: Annotated[Path, typer.Option(help="Folder of the runs.")] = Path("runs/demo"),
    workers: Workers = 0,
    data_dir: DataDir = None,
) -> None:
    """Watch SemiAnAgg train ten sites, one with labels and nine without.

    Trains the labeled-only lower bound, SemiAnAgg and the fully labeled upper bound on
    real images that are installed with the package, and compares them.
    """
    run_demo(load_config(_DEMO, overrides or []), out, workers, Console(), data_dir)


def run(
    config: ConfigPath,
    overrides: Overrides = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run; runs/<config> by default.")
    ] = None,
    workers: Workers = 0,
    data_dir: DataDir = None,
) -> None:
    """Run an experiment and keep its record.

    The folder gets config.json, manifest.json, metrics.jsonl (a line a round),
    summary.json and model.safetensors.

    Example: fedsemi run configs/demo.toml --set stages.1.rounds=10 --out runs/short
    """
    experiment = load_config(config, overrides or [])
    out = out or Path("runs") / config.stem
    console = Console()
    simulation = build(experiment, data_dir)
    last, summary = train(simulation, out, config.stem, workers, console)
    console.print(client_table(last.record))
    console.print(_result_table(summary))
    console.print(f"{duration(summary['seconds'])}; records in {out}", soft_wrap=True)


def methods() -> None:
    """List the methods and their settings."""
    table = Table("method", "what it does", "settings", box=None, padding=(0, 2))
    for name, method in METHODS.items():
        settings = ", ".join(
            f"{field.name}={_shown(field)}"
            for field in dataclasses.fields(method)
            if field.name != "setup"
        )
        table.add_row(name, (inspect.getdoc(method) or "").split("\n")[0], settings)
    Console().print(table)


def _shown(field: dataclasses.Field[Any]) -> str:
    if field.default is dataclasses.MISSING:
        return "{…}"
    return str(field.default)


def _result_table(summary: dict[str, Any]) -> Table:
    table = Table(box=None, header_style="dim", padding=(0, 2))
    for name in ("stage", "method", "which", "accuracy", "B-Acc", "AUC"):
        table.add_column(name)
    for stage in summary["stages"]:
        for which in ("last_round", "mean_of_last_10", "best_round_on_test_set"):
            scores = stage[which]
            auc = scores["auc"]
            table.add_row(
                str(stage["stage"]),
                stage["method"],
                which.replace("_", " "),
                f"{scores['accuracy']:.2%}",
                f"{scores['balanced_accuracy']:.2%}",
                "–" if auc is None else f"{auc:.2%}",
            )
    return table
