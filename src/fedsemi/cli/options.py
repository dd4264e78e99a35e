"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ConfigPath = Annotated[
    Path, typer.Argument(help="A TOML file, see configs/.", show_default=False)
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        envvar="FEDSEMI_DATA",
        help="The folder of the data sets, instead of the usual ones (`datasets`).",
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SECTION.KEY=VALUE",
        help="Change a setting, e.g. --set stages.1.rounds=10. May be repeated.",
    ),
]
Workers = Annotated[
    int,
    typer.Option(
        min=0, help="Worker processes; 0 for one per core. Changes no bit of a result."
    ),
]


def require_flower() -> None:
    """Say what is missing if Flower is not installed, or is another one."""
    from fedsemi.deployment.flower_names import check_flower

    check_flower()
