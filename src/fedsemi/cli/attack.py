"""The command that attacks a simulated federation."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from fedsemi.cli.options import ConfigPath, DataDir, Overrides
from fedsemi.config.experiment import load_config
from fedsemi.engines.in_process import one_thread
from fedsemi.errors import ConfigError, nearest
from fedsemi.simulation.attack_suite import (
    AGGREGATIONS,
    Outcome,
    run_suite,
    table_rows,
)
from fedsemi.simulation.attacked import ATTACKS
from fedsemi.storage import write_whole
from fedsemi.text.screen import Screen


def attack(
    config: ConfigPath,
    attacks: Annotated[
        list[str] | None,
        typer.Option("--attack", help=f"Of {', '.join(ATTACKS)}; all by default."),
    ] = None,
    aggregations: Annotated[
        list[str] | None,
        typer.Option(
            "--aggregation", help=f"Of {', '.join(AGGREGATIONS)}; all by default."
        ),
    ] = None,
    overrides: Overrides = None,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path(
        "runs/attack"
    ),
    data_dir: DataDir = None,
) -> None:
    """Let unlabeled sites attack, with and without the guard; the gate is always on.

    Shows the balanced accuracy that is lost, the attackers' share of the mean, and how
    often marked images are taken for the target of a trigger.

    Example: fedsemi attack configs/digits.toml --attack flip --aggregation semianagg
    """
    chosen = _known("attack", attacks, ATTACKS)
    rules = _known("aggregation", aggregations, tuple(AGGREGATIONS))
    console = Screen()
    outcomes: list[Outcome] = []
    with one_thread():
        for each in run_suite(
            load_config(config, overrides or []), chosen, rules, out, data_dir
        ):
            outcomes.append(each)
            console.print(
                f"{each.aggregation} {each.attack} guard "
                f"{'on' if each.guard else 'off'}: {each.balanced_accuracy:.2%}",
                soft_wrap=True,
            )
    text = json.dumps([asdict(each) for each in outcomes], indent=1) + "\n"
    write_whole(out / "attacks.json", text.encode())
    console.print(result_table(outcomes))
    console.print(f"saved {out / 'attacks.json'}", soft_wrap=True)


def result_table(outcomes: list[Outcome]) -> Table:
    """Show what every attack costs, without and with the guard."""
    table = Table(box=None, header_style="dim", padding=(0, 2))
    names = ("lost", "share", "lost, guarded", "share, guarded", "dropped", "trigger")
    for name in ("aggregation", "attack", *names):
        table.add_column(name, justify="right" if name in names else "left")
    for row in table_rows(outcomes):
        table.add_row(
            row["aggregation"],
            row["attack"],
            f"{100 * row['lost_off']:.1f}",
            _share(row["share_off"]),
            f"{100 * row['lost_on']:.1f}",
            _share(row["share_on"]),
            f"{row['dropped_on']:.0f}",
            _rates(row["success_off"], row["success_on"]),
        )
    return table


def _share(share: float | None) -> str:
    return "hidden" if share is None else f"{share:.1%}"


def _rates(off: float | None, on: float | None) -> str:
    return "" if off is None or on is None else f"{off:.0%}, guarded {on:.0%}"


def _known(
    what: str, names: list[str] | None, known: tuple[str, ...]
) -> tuple[str, ...]:
    for name in names or ():
        if name not in known:
            raise ConfigError(
                f"there is no {what} '{name}'{nearest(name, known)}; known are "
                f"{', '.join(known)}",
                code="FS4104",
            )
    return tuple(names or known)
