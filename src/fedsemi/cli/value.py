"""The command that values clients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table

from fedsemi.cli.options import DataDir, Workers
from fedsemi.cli.see import RunPath
from fedsemi.config.experiment import make_experiment
from fedsemi.engines.in_process import one_thread
from fedsemi.errors import StorageError
from fedsemi.report.ranks import FEWEST
from fedsemi.report.run import read_run
from fedsemi.runs.folder import MODEL
from fedsemi.simulation.build import build
from fedsemi.storage import read_weights, write_whole
from fedsemi.text.screen import Screen
from fedsemi.use.session import available_cores
from fedsemi.valuation.measure import Kind, Valuer
from fedsemi.valuation.measure import value as value_clients

_DEFAULT = [Kind.marginal, Kind.shapley, Kind.warm]


def value(
    run: RunPath,
    measure: Annotated[
        list[Kind] | None,
        typer.Option(help="May be repeated; all but `full` by default."),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds from the model on.")] = 3,
    permutations: Annotated[
        int, typer.Option(min=2, help="Random orders for the Shapley value.")
    ] = 20,
    workers: Workers = 0,
    data_dir: DataDir = None,
) -> None:
    """Say what each client is worth, beside its contribution and data size.

    marginal and shapley leave clients out of the mean, warm and full out of training:
    warm for some rounds from the saved model on, full from the start. Scores are on the
    labels that labeled clients hold out, or on the test set if they hold out none. The
    result is kept as value.json, where `fedsemi report` finds it; measures that are
    taken later join those.

    Example: fedsemi value runs/demo/semianagg --measure full
    """
    found, console = read_run(run), Screen()
    if not found.records or not (run / MODEL).is_file():
        raise StorageError(f"'{run}' has no trained model yet; let it end", "FS1110")
    simulation = build(make_experiment(found.config), data_dir)
    weights = read_weights(run / MODEL)
    cores = workers or available_cores()
    valuer = Valuer(simulation, weights, rounds, permutations, cores, console.print)
    kinds = list(dict.fromkeys(measure or _DEFAULT))
    with one_thread():
        result = value_clients(found, valuer, kinds)
    write_whole(run / "value.json", (json.dumps(result, indent=1) + "\n").encode())
    console.print(worth(result, found.sites))
    console.print(f"saved {Path(run) / 'value.json'}", soft_wrap=True)


def worth(result: dict[str, Any], sites: dict[int, str]) -> RenderableType:
    """Show each client by every measure, and how far the measures agree.

    Args:
        result: What value.json holds.
        sites: The name of each client, where it has one.
    """
    measures = result["measures"]
    table = Table(box=None, header_style="dim", padding=(0, 1))
    table.add_column("client", justify="right")
    for measure in measures:
        table.add_column(_SHORT[measure["name"]], justify="right")
    columns = [{v["client"]: v for v in measure["values"]} for measure in measures]
    for client in sorted({id for column in columns for id in column}):
        table.add_row(str(client), *(_cell(column.get(client)) for column in columns))
    note = (
        f"scored on {result['scored_on']}, in log-likelihood per image; * the 95 % "
        "interval, which value.json has, leaves out zero"
    )
    key = ", ".join(f"client {id} = {name}" for id, name in sites.items())
    parts = (table, _agreement(result["correlations"]), note)
    return Group(*parts, *([key] if key else []))


def _agreement(correlations: list[dict[str, Any]]) -> RenderableType:
    enough = [c for c in correlations if c["clients"] >= FEWEST]
    if not enough:
        most = max((c["clients"] for c in correlations), default=0)
        return f"rank correlations need {FEWEST} unlabeled clients; there are {most}"
    table = Table(box=None, header_style="dim", padding=(0, 1))
    for name in ("rank correlation of", "clients", "rho", "95 % interval", "p"):
        table.add_column(name)
    for c in enough:
        shown = ["–"] * 3
        if c["rho"] is not None:
            interval = f"{c['low']:.2f} to {c['high']:.2f}"
            shown = [f"{c['rho']:.2f}", interval, f"{c['p']:.3f}"]
        pair = f"{_SHORT[c['a']]} – {_SHORT[c['b']]}"
        table.add_row(pair, str(c["clients"]), *shown)
    return table


def _cell(worth: dict[str, float] | None) -> str:
    if worth is None:
        return "–"
    if worth["low"] is None or worth["high"] is None:
        return f"{worth['value']:.4g}"
    sure = worth["low"] > 0 or worth["high"] < 0
    return f"{worth['value']:+.4f}{'*' if sure else ' '}"


# Six full names do not fit into eighty columns.
_SHORT = {
    "Contribution": "share",
    "Data size": "images",
    "In-run marginal": "marginal",
    "Shapley value": "Shapley",
    "Leave one out, warm start": "left out, warm",
    "Leave one out, full": "left out, full",
}
