"""What methods there are, and what each of them sends."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from fedsemi.config.explain import known
from fedsemi.methods import METHODS
from fedsemi.simulation.ledger import Ledger, measure
from fedsemi.text.screen import Screen

TITLES = (
    "method",
    "cards",
    "a site sends",
    "round",
    "local learner",
    "aggregation",
    "paper",
)
_NARROW = (
    ("method", "cards", "a site sends", "round", "paper"),
    ("method", "local learner", "aggregation"),
)
_WIDE = 120


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
    console = Screen()
    if name is not None:
        known("methods", name, METHODS)
        console.print(_settings(name))
        return
    rows = [_row(method) for method in METHODS.own]
    for titles in (TITLES,) if console.width >= _WIDE else _NARROW:
        console.print(_table(titles, rows))
    console.print(
        "measured; 'round' is all traffic of ten sites, both ways; M is the model, "
        "parts are trained beside it",
        style="dim",
    )
    console.print("* has a note: fedsemi methods NAME", style="dim")


def _table(titles: Sequence[str], rows: Sequence[Mapping[str, str]]) -> Table:
    table = Table(box=None, padding=(0, 1), header_style="dim")
    for title in titles:
        table.add_column(title, no_wrap=title in ("method", "round", "paper"))
    for row in rows:
        table.add_row(*(row[title] for title in titles))
    return table


def _row(method: str) -> dict[str, str]:
    # Unlabeled clients join FedIRM late; what they send then is of interest.
    settings = {"unlabeled_after": 0} if method == "fedirm" else {}
    ledger, origin = measure(method, **settings), METHODS[method].provenance
    values = (
        method,
        ", ".join(METHODS[method].cards) or "–",
        sent(ledger),
        total(ledger),
        origin.learner,
        origin.aggregation,
        f"{origin.reference}{' *' if origin.note else ''}",
    )
    return dict(zip(TITLES, values, strict=True))


def sent(ledger: Ledger) -> str:
    """Name the fields of an update with their bytes; the model is M."""
    rest = [f"{name} {shown(b)}" for name, b in ledger.fields.items()]
    return ", ".join(["M", *rest[1:]])


def total(ledger: Ledger) -> str:
    """Say what a round costs, in models and in bytes beside them."""
    return f"{ledger.transfers} M + {shown(ledger.beside)}"


def shown(num_bytes: int) -> str:
    """Write a number of bytes in a readable unit.

    >>> shown(24), shown(32768), shown(33_000_000)
    ('24 B', '33 kB', '33 MB')
    """
    for size, unit in ((1_000_000, "MB"), (1_000, "kB")):
        if num_bytes >= size:
            return f"{num_bytes / size:.0f} {unit}"
    return f"{num_bytes} B"


def _settings(name: str) -> Table:
    method = METHODS[name]
    what = (inspect.getdoc(method) or "").split("\n")[0]
    origin = method.provenance
    note = f" ({origin.note})" if origin.note else ""
    title = Text(f"{name}: {what}\n{origin.reference}{note}")
    table = Table("setting", "default", title=title, box=None)
    for field in method.settings():
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
