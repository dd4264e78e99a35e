"""The command that audits the shares of a method."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from fedsemi.cli.options import DataDir, Overrides
from fedsemi.config.experiment import Experiment, load_config, make_experiment
from fedsemi.engines.in_process import one_thread
from fedsemi.errors import StorageError
from fedsemi.messages import Weights
from fedsemi.report.run import read_run
from fedsemi.runs.folder import MODEL, read_json
from fedsemi.server.running_mean import delivered
from fedsemi.simulation.build import Simulation, build
from fedsemi.simulation.run import run_simulation
from fedsemi.storage import read_weights
from fedsemi.text.screen import Screen
from fedsemi.valuation.audit_plot import save_plot
from fedsemi.valuation.audit_record import is_record, record_of, write_record
from fedsemi.valuation.audit_words import verdict, where
from fedsemi.valuation.update_space import Place
from fedsemi.valuation.weight_audit import FACTS, Audit, audit


def audit_weights(
    source: Annotated[
        Path,
        typer.Argument(help="A finished run; a config or an audit, run first."),
    ],
    overrides: Overrides = None,
    rounds: Annotated[
        int, typer.Option(min=1, help="Rounds that are looked at, from the second on.")
    ] = 3,
    out: Annotated[
        Path, typer.Option(help="Where the plot goes, the record beside it.")
    ] = Path("weights.png"),
    data_dir: DataDir = None,
) -> None:
    """Say how a method weighs sites: how unequally, by what, and with what gain.

    Rounds of the last stage are played from the trained model on; the first, in which
    a method settles, is not looked at. Equal shares are those in which sites of one
    kind (labeled, unlabeled, both) count alike; the same updates are averaged with the
    method's shares and with these, both are tested, and the difference of the two steps
    is looked up: in which layers, which classes of the head, and towards whom. The
    record is a small file; an audit of it repeats it.

    Example: fedsemi audit-weights runs/demo/semianagg --rounds 5
    """
    console = Screen()
    simulation, weights = _trained(source, list(overrides or ()), data_dir, console)
    with one_thread():
        found = audit(simulation, weights, rounds)
    console.print(_table(found))
    if found.place is not None:
        console.print(_places(found.place))
    save_plot(found, simulation.class_names, out)
    record = out.with_suffix(".json")
    write_record(record, record_of(found, simulation))
    console.print(verdict(found), soft_wrap=True)
    console.print(where(found.place, simulation.class_names), soft_wrap=True)
    console.print(f"saved {out} and {record}", soft_wrap=True)


def _trained(
    source: Path, overrides: list[str], data_dir: Path | None, console: Screen
) -> tuple[Simulation, Weights]:
    """Return a simulation and its trained model; a config is run for that."""
    if source.is_dir():
        if not (source / MODEL).is_file():
            raise StorageError(f"'{source}' has no trained model yet; let it end")
        content = make_experiment(read_run(source).config)
        return build(content, data_dir), read_weights(source / MODEL)
    simulation = build(_experiment(source, overrides), data_dir)
    weights = simulation.initial_weights()
    with one_thread():
        for step in run_simulation(simulation):
            weights = delivered(simulation.experiment, step)
            record = step.record
            console.print(f"{record.method} round {record.round}/{record.rounds}")
    return simulation, weights


def _experiment(source: Path, overrides: list[str]) -> Experiment:
    """Read a config, or that of an earlier audit."""
    if source.suffix == ".json" and source.is_file() and is_record(source):
        return make_experiment(read_json(source)["config"])
    return load_config(source, overrides)


def _table(found: Audit) -> Table:
    table = Table(box=None, header_style="dim", padding=(0, 1))
    table.add_column("shares against equal ones, explained by")
    for name in ("R²", "rank correlation"):
        table.add_column(name, justify="right")
    for fact in FACTS:
        table.add_row(fact, _shown(found.explained(fact)), _shown(found.ranked(fact)))
    table.add_row("all three", _shown(found.explained(*FACTS)), "")
    return table


def _places(place: Place) -> Table:
    table = Table(box=None, header_style="dim", padding=(0, 1))
    table.add_column("where shares move the step", no_wrap=True)
    for name in ("of the equal step", "of all that is moved"):
        table.add_column(name, justify="right")
    for group, moved in place.moved.items():
        table.add_row(group, f"{moved:.1%}", f"{place.part[group]:.0%}")
    table.add_row("all layers", f"{place.whole:.1%}", "")
    return table


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
