"""The command that audits the shares of a method."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from fedsemi.cli.options import DataDir, Overrides
from fedsemi.config.experiment import load_config, make_experiment
from fedsemi.engines.in_process import one_thread
from fedsemi.errors import CannotCreate, StorageError
from fedsemi.messages import Weights
from fedsemi.report.run import read_run
from fedsemi.runs.folder import MODEL
from fedsemi.simulation.build import Simulation, build
from fedsemi.simulation.run import run_simulation
from fedsemi.storage import read_weights
from fedsemi.text.screen import Screen
from fedsemi.valuation.weight_audit import FACTS, Audit, audit

_SLIGHT = 0.02
"""Shares that move less of the mean than this are as good as equal."""
_MOSTLY = 0.8
"""R² from which a plain number may stand for the shares."""


def audit_weights(
    source: Annotated[
        Path, typer.Argument(help="A finished run, or a config, which is run first.")
    ],
    overrides: Overrides = None,
    rounds: Annotated[
        int, typer.Option(min=1, help="Rounds that are played and looked at.")
    ] = 3,
    out: Annotated[Path, typer.Option(help="Where the plot goes.")] = Path(
        "weights.png"
    ),
    data_dir: DataDir = None,
) -> None:
    """Say how a method weighs sites: how unequally, by what, and with what gain.

    Rounds of the last stage are played from the trained model on. Equal shares are
    those in which sites of one kind (labeled, unlabeled, both) count alike; the same
    updates are averaged with the method's shares and with these, and both are tested.

    Example: fedsemi audit-weights runs/demo/semianagg --rounds 5
    """
    console = Screen()
    simulation, weights = _trained(source, list(overrides or ()), data_dir, console)
    with one_thread():
        found = audit(simulation, weights, rounds)
    console.print(_table(found))
    save_plot(found, out)
    console.print(verdict(found), soft_wrap=True)
    console.print(f"saved {out}", soft_wrap=True)


def _trained(
    source: Path, overrides: list[str], data_dir: Path | None, console: Screen
) -> tuple[Simulation, Weights]:
    """Return a simulation and its trained model; a config is run for that."""
    if source.is_dir():
        if not (source / MODEL).is_file():
            raise StorageError(f"'{source}' has no trained model yet; let it end")
        content = make_experiment(read_run(source).config)
        return build(content, data_dir), read_weights(source / MODEL)
    simulation = build(load_config(source, overrides), data_dir)
    weights = simulation.initial_weights()
    with one_thread():
        for step in run_simulation(simulation):
            weights = step.weights
            record = step.record
            console.print(f"{record.method} round {record.round}/{record.rounds}")
    return simulation, weights


def verdict(found: Audit) -> str:
    """Say in a sentence what to do about the shares."""
    moved = f"{found.method} moves {found.moved:.1%} of the mean away from equal shares"
    ahead = sum(
        a > b for a, b in zip(found.accuracy, found.equal_accuracy, strict=True)
    )
    rounds = len(found.accuracy)
    gained = (
        f"they were worth {100 * found.gain:+.2f} points of accuracy within a round "
        f"(ahead in {ahead} of {rounds})"
    )
    if found.moved < _SLIGHT:
        return f"{moved}: equal shares would do as well; {gained}."
    best = max(FACTS, key=lambda fact: found.explained(fact) or 0.0)
    alone = found.explained(best) or 0.0
    if alone >= _MOSTLY:
        told = f"{best} alone explains {alone:.0%} of that: weigh by it, it is simpler"
    else:
        every = found.explained(*FACTS) or 0.0
        told = f"presence, counts and size explain {every:.0%} of that together"
    return f"{moved}; {told}; {gained}."


def _table(found: Audit) -> Table:
    table = Table(box=None, header_style="dim", padding=(0, 1))
    table.add_column("shares against equal ones, explained by")
    for name in ("R²", "rank correlation"):
        table.add_column(name, justify="right")
    for fact in FACTS:
        table.add_row(fact, _shown(found.explained(fact)), _shown(found.ranked(fact)))
    table.add_row("all three", _shown(found.explained(*FACTS)), "")
    return table


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def save_plot(found: Audit, path: Path) -> None:
    """Draw relative shares over counts, and both accuracies round by round."""
    # Imported here, so that commands which draw nothing start sooner.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    rows = [row for row in found.rows if row.equal > 0]
    clients = sorted({row.client for row in rows})
    for client in clients:
        own = [row for row in rows if row.client == client]
        relative = [row.share / row.equal for row in own]
        left.plot([row.counts for row in own], relative, "o", label=str(client))
    left.axhline(1, color="0.6", linewidth=1, zorder=0)
    left.set_xlabel("labels and confident pseudo-labels of a client")
    left.set_ylabel("share, in equal shares")
    left.set_ylim(bottom=0)
    if len(clients) <= 10:
        left.legend(title="client", fontsize=7, title_fontsize=7, ncols=2)
    numbers = range(1, len(found.accuracy) + 1)
    shown = (("its shares", found.accuracy), ("equal shares", found.equal_accuracy))
    for name, values in shown:
        right.plot(numbers, [100 * each for each in values], "o-", label=name)
    right.set_xticks(list(numbers))
    right.set_xlabel("round, from the trained model on")
    right.set_ylabel("accuracy of the mean, %")
    right.legend()
    figure.suptitle(f"{found.method}: {found.moved:.1%} of the mean is moved")
    try:
        figure.savefig(path, dpi=130)
    except (OSError, ValueError) as error:
        raise CannotCreate(f"cannot write the plot {path}: {error}") from error
