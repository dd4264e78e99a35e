"""The configs that come with fedsemi: what there is, and one to begin with."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from fedsemi.config.files import CONFIGS
from fedsemi.errors import CannotCreate, ConfigError, nearest
from fedsemi.text.printable import typed
from fedsemi.text.screen import Screen, say


def configs(
    name: Annotated[
        str | None, typer.Argument(help="Copy this one here, to be changed.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to; its own name in this folder if not.")
    ] = None,
) -> None:
    """List the configs that come with fedsemi, or copy one to the current folder.

    Example: fedsemi configs cpu/svhn
    """
    shipped = {
        path.relative_to(CONFIGS).with_suffix("").as_posix(): path
        for path in sorted(CONFIGS.rglob("*.toml"))
    }
    if name is None:
        _show(shipped)
    else:
        _copy(name, shipped, out)


def _show(shipped: dict[str, Path]) -> None:
    table = Table(box=None, padding=(0, 1), header_style="dim")
    table.add_column("config", no_wrap=True)
    table.add_column("what it is")
    for name, path in shipped.items():
        table.add_row(name, _first_sentence(path))
    console = Screen()
    console.print(table)
    console.print(
        "run one: fedsemi run NAME; copy one to change it: fedsemi configs NAME",
        style="dim",
    )


def _first_sentence(path: Path) -> str:
    """Return what the comment at the top of a config says first."""
    lines = []
    for line in path.read_text("utf-8").split("\n"):
        if not line.startswith("#"):
            break
        lines.append(line.removeprefix("#").strip())
    text = " ".join(lines)
    end = text.find(". ")
    return text if end < 0 else text[: end + 1]


def _copy(name: str, shipped: dict[str, Path], out: Path | None) -> None:
    if name not in shipped:
        raise ConfigError(
            f"there is no config '{name}'{nearest(name, shipped)}; `fedsemi configs` "
            "lists them",
            code="FS4001",
        )
    target = out or Path(f"{name.replace('/', '-')}.toml")
    if target.exists():
        raise CannotCreate(f"'{target}' exists; name another file with --out")
    shutil.copyfile(shipped[name], target)
    say(f"wrote {target}; run it with `{typed('fedsemi', 'run', target)}`")
