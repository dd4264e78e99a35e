"""What methods there are, and what each of them sends."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from fedsemi.explain import known
from fedsemi.ledger import Ledger, measure
from fedsemi.methods import METHODS
from fedsemi.methods.provenance import PROVENANCE


def methods(
    name: Annotated[
        str | None, typer.Argument(help="Show the settings of this one.")
    ] = None,
) -> None:
    """List the methods with what a site sends, or show the settings of one.

    What is sent is measured: each method runs two rounds with ten small sites, one of
    them labeled, and the messages of the second are counted. M is the size of the
    model.

    Example: fedsemi methods semianagg
    """
    console = Console()
    if name is not None:
        known("methods", name, METHODS)
        console.print(_settings(name))
        return
    table = Table(box=None, padding=(0, 1), header_style="dim")
    for title in ("method", "a site sends", "round", "local learner", "aggregation"):
        table.add_column(title, no_wrap=title == "method")
    table.add_column("paper")
    for method in METHODS:
        table.add_row(*_row(method))
    console.print(table)
    console.print(
        "measured; 'round' is all traffic of ten sites, both ways, in model sizes M"
    )


def _row(method: str) -> list[str]:
    # Unlabeled clients join FedIRM late; what they send then is of interest.
    settings = {"unlabeled_after": 1} if method == "fedirm" else {}
    ledger, origin = measure(method, **settings), PROVENANCE[method]
    paper = f"{origin.paper} {origin.year}"
    return [
        method,
        sent(ledger),
        f"{ledger.total_in_models:.1f} M",
        origin.learner,
        origin.aggregation,
        f"{paper} ({origin.note})" if origin.note else paper,
    ]


def sent(ledger: Ledger) -> str:
    """Name the fields of an update with their bytes, the model's in sizes of it."""
    model = ledger.fields["model"] / ledger.model
    rest = [f"{name} {b} B" for name, b in ledger.fields.items() if name != "model"]
    return ", ".join([f"{model:.2f} M", *rest])


def _settings(name: str) -> Table:
    method = METHODS[name]
    what = (inspect.getdoc(method) or "").split("\n")[0]
    table = Table("setting", "default", title=f"{name}: {what}", box=None)
    for field in dataclasses.fields(method):
        if field.name != "setup":
            table.add_row(field.name, _shown(field))
    return table


def _shown(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return repr(field.default)
    if field.default_factory is dataclasses.MISSING:
        return "–"
    made = field.default_factory()
    if not dataclasses.is_dataclass(made) or isinstance(made, type):
        return repr(made)
    inner = (f"{k} = {v!r}" for k, v in dataclasses.asdict(made).items())
    return "{ " + ", ".join(inner) + " }"
