"""The command that lists plug-ins: what was found, from where, and what is broken."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from fedsemi.config.experiment import load_config
from fedsemi.config.plugged import plugins_of
from fedsemi.errors import FedSemiError
from fedsemi.plugins.registry import REGISTRIES
from fedsemi.text.screen import Screen

_TITLES = ("kind", "name", "from", "version", "source")


def plugins(
    config: Annotated[
        Path | None, typer.Argument(help="Show those that this config uses.")
    ] = None,
) -> None:
    """List the plug-ins that installed packages announce, or those of a config.

    Methods, models, data sets and learners from outside fedsemi; a broken one is shown
    with what is wrong with it.

    Example: fedsemi plugins my-config.toml
    """
    console = Screen()
    rows = list(_announced() if config is None else _used(config))
    if not rows:
        console.print(
            "none; a package announces plug-ins by entry points, a config names them "
            "as module:Name, see docs/adding-a-method.md"
        )
        return
    table = Table(*_TITLES, box=None)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _announced() -> Iterator[tuple[str, ...]]:
    for kind, registry in REGISTRIES.items():
        for name, entry in registry.announced.items():
            dist = entry.dist
            origin = f"{dist.name}, {entry.value}" if dist else entry.value
            release = dist.version if dist else ""
            try:
                found = registry.identity(name)
                state = f"{found.sha256[:12]}" if found else "hidden by fedsemi's own"
            except FedSemiError as error:
                state = f"broken: {error}"
            yield kind, name, origin, release, state


def _used(config: Path) -> Iterator[tuple[str, ...]]:
    for name, found in plugins_of(load_config(config), with_data=True).items():
        origin = found["distribution"] or name.partition(":")[0]
        yield found["kind"], name, origin, found["version"], found["sha256"][:12]
