"""What methods there are, and what each of them sends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Annotated

import typer
from rich.table import Table

from fedsemi.cli.reference import KnownMethod, reference
from fedsemi.errors import ConfigError, nearest
from fedsemi.text.printable import typed
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
    ("method", "a site sends", "round", "paper"),
    ("method", "cards", "local learner", "aggregation"),
)
_WIDE = 120


def methods(
    name: Annotated[
        str | None, typer.Argument(help="Show this one, also module:Class of your own.")
    ] = None,
) -> None:
    """List the methods with what a site sends, or show all about one.

    What is sent was measured: each method ran two rounds with ten small sites, labeled
    as its first card says, and the messages of the second were counted; a method of
    your own is measured when you ask for it. M is the size of the model.

    Example: fedsemi methods semianagg
    """
    if name is None:
        _list(Screen())
    else:
        _show(_found(name), Screen())


def _list(console: Screen) -> None:
    rows = [_row(method) for method in reference().methods]
    for titles in (TITLES,) if console.width >= _WIDE else _NARROW:
        console.print(_table(titles, rows))
    console.print(
        "measured; 'round' is all traffic of ten sites, both ways; M is the model, "
        "parts are trained beside it",
        style="dim",
    )
    console.print("* has a note: fedsemi methods NAME", style="dim")
    if outside := _announced():
        names = ", ".join(outside)
        console.print(f"plug-ins, measured by fedsemi methods NAME: {names}")


def _announced() -> list[str]:
    return [each.name for each in entry_points(group="fedsemi.methods")]


def _found(name: str) -> KnownMethod:
    known = reference().method(name)
    if known is not None:
        return known
    outside = _announced()
    if ":" not in name and name not in outside:
        names = [*(each.name for each in reference().methods), *outside]
        raise ConfigError(
            f"methods: there is no '{name}'{nearest(name, names)}; known are "
            f"{', '.join(sorted(names))}",
            code="FS4104",
        )
    # torch takes seconds to import, and is needed to train what is not known.
    from fedsemi.cli.write_reference import measured

    return measured(name)


def _table(titles: Sequence[str], rows: Sequence[Mapping[str, str]]) -> Table:
    table = Table(box=None, padding=(0, 1), header_style="dim")
    for title in titles:
        table.add_column(title, no_wrap=title in ("method", "round", "paper"))
    for row in rows:
        table.add_row(*(row[title] for title in titles))
    return table


def _row(method: KnownMethod) -> dict[str, str]:
    values = (
        method.name,
        method.cards or "–",
        method.sends,
        method.round,
        method.learner,
        method.aggregation,
        f"{method.paper}{' *' if method.note else ''}",
    )
    return dict(zip(TITLES, values, strict=True))


def _show(method: KnownMethod, console: Screen) -> None:
    console.print(f"{method.name}: {method.what}", style="bold")
    facts = Table(box=None, padding=(0, 1), show_header=False)
    facts.add_column(no_wrap=True, style="dim")
    facts.add_column()
    for title, value in (
        ("paper", method.paper),
        ("note", method.note),
        ("made for", method.cards),
        ("local learner", method.learner),
        ("aggregation", method.aggregation),
        ("a site sends", f"{method.sends} (M is the model)"),
        ("a round", f"{method.round}, ten sites, both ways"),
    ):
        if value:
            facts.add_row(title, value)
    console.print(facts)
    console.print()
    title = f'[[stages]] method = "{method.name}"'
    own = method.settings or [("none of its own", "", "", "")]
    console.print(settings_table(title, own))
    console.print()
    for title, command in commands_for(method).items():
        console.print(f"{title}: {command}", soft_wrap=True)


def settings_table(title: str, rows: Iterable[Sequence[str]]) -> Table:
    """List settings with type, default and meaning."""
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1))
    table.add_column("setting", no_wrap=True)
    for column in ("type", "default", "meaning"):
        table.add_column(column)
    for row in rows:
        table.add_row(*row)
    return table


def commands_for(method: KnownMethod) -> dict[str, str]:
    """Say what to type to see the method at work."""
    words = ("run", "demo", "--set", f"stages.1.method={method.name}")
    found = {"try it, without a download": typed("fedsemi", *words)}
    if method.config:
        found["start from"] = f"{typed('fedsemi', 'configs', method.config)} (a copy)"
        # A config below `cards` is small; the others have the paper's settings.
        small = method.config.startswith("cards/")
        title = "under its card" if small else "as in the paper"
        found[title] = typed("fedsemi", "run", method.config)
    return found
