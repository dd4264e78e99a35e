"""The settings of the field: who has labels, and which methods are made for that."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from fedsemi.cards import CARDS, Card
from fedsemi.errors import ConfigError, nearest
from fedsemi.evidence.benchmark import DEFAULTS
from fedsemi.methods import METHODS
from fedsemi.text.screen import Screen


def settings_cards(
    name: Annotated[
        str | None, typer.Argument(help="Show this one in detail: LC, LPC, LAC, LS.")
    ] = None,
) -> None:
    """List the settings of the field, each a card, or show one and its methods.

    A card says who has labels and how many. `[setting] card` puts an experiment under
    it; a method that is made for others says so in a line and runs all the same.

    Example: fedsemi settings-cards LAC
    """
    console = Screen()
    if name is None:
        console.print(_overview())
        console.print(
            "clients, asked and E are those of the papers behind a card; an experiment "
            "has those of its config",
            style="dim",
        )
        return
    chosen = [card for card in CARDS.values() if card.name == name.upper()]
    if not chosen:
        raise ConfigError(
            f"there is no card '{name}'{nearest(name, CARDS)}; known: "
            f"{', '.join(CARDS)}",
            code="FS4104",
        )
    console.print(_detail(chosen[0]))


def _overview() -> Table:
    table = Table(box=None, padding=(0, 1), header_style="dim")
    table.add_column("card", no_wrap=True)
    for title in ("who has labels", "how many"):
        table.add_column(title)
    for title in ("clients", "asked", "E"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("server")
    for card in CARDS.values():
        table.add_row(
            card.name,
            card.title,
            card.labels,
            str(card.clients),
            f"{card.participation:.0%}",
            str(card.epochs),
            "trains" if card.server_trains else "–",
        )
    return table


def _detail(card: Card) -> Table:
    table = Table(
        title=f"{card.name}: {card.title}",
        title_justify="left",
        show_header=False,
        box=None,
        padding=(0, 1),
    )
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    made_for = [n for n, method in METHODS.own.items() if card.name in method.cards]
    server = "has labels of its own and learns from them, as participant 0"
    rows: dict[str, str | Text] = {
        "labels": card.labels,
        "in a config": Text("\n".join(card.settings)),
        "clients": f"{card.clients}, of which {card.participation:.0%} a round",
        "local epochs": str(card.epochs),
        "batch": card.batch,
        "server": server if card.server_trains else "has no images of its own",
        "after": card.source,
        "made for it": ", ".join(made_for),
        "for others": ", ".join(name for name in METHODS.own if name not in made_for),
        "benchmark": f"retrained under it: {', '.join(DEFAULTS[card.name])}",
    }
    for title, text in rows.items():
        table.add_row(title, text)
    return table
