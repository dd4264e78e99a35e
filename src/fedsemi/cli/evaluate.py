"""The command that tests a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from fedsemi.cli.options import DataDir
from fedsemi.errors import ConfigError
from fedsemi.storage import make_folder, write_whole
from fedsemi.text.screen import Screen, say, warn
from fedsemi.use.evaluate import Evaluation, evaluate_run, evaluate_table
from fedsemi.use.evaluation_page import evaluation_page
from fedsemi.use.evaluation_tables import lines_of, tables_of

_TOLD = 10


def evaluate(
    model: Annotated[Path, typer.Argument(help="A run, or an exported .onnx or .pt2.")],
    table: Annotated[
        Path | None,
        typer.Argument(
            help="A CSV with file,label[,group,…] beside its pictures, or their "
            "folder; without it, the run's own test images.",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN,…",
            help="Columns to divide the test by, e.g. sex,age; all by default.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A page (.html) or the numbers (.json).")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="sites.KEY=VALUE",
            help="How the pictures of a table become pixels, as for predict.",
        ),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Test a model on labeled pictures: intervals, calibration, thresholds, subgroups.

    Every number says how many images and classes it rests on. Nothing leaves this
    machine: run it at a site to see how a model does there.

    Example: fedsemi evaluate runs/demo/semianagg

    Example: fedsemi evaluate model.onnx own/labels.csv --by sex,age --out own.html
    """
    if out is not None and out.suffix not in (".html", ".json"):
        raise ConfigError(
            f"--out '{out}' must end with .html or .json, for a page or for numbers",
            code="FS4107",
        )
    columns = [word.strip() for word in (by or "").split(",") if word.strip()]
    if table is not None:
        found = evaluate_table(model, table, columns, overrides or [])
    elif overrides:
        raise ConfigError(
            "--set is about the pictures of a table; leave it away, or give one",
            code="FS4107",
        )
    else:
        found = evaluate_run(model, columns, data_dir)
    _show(found)
    if out is not None:
        make_folder(out.parent)
        name = (table or model).resolve().name
        content = json.dumps(found.facts, indent=1) + "\n"
        if out.suffix == ".html":
            content = evaluation_page(model.resolve().name, name, found)
        write_whole(out, content.encode())
        say(f"saved {out}")


def _show(found: Evaluation) -> None:
    console = Screen()
    for line in lines_of(found.facts):
        console.print(line, soft_wrap=True, highlight=False)
    for table in tables_of(found.facts):
        console.print(table)
    warn(console, found.left_out[:_TOLD])
    if len(found.left_out) > _TOLD:
        console.print(f"and {len(found.left_out) - _TOLD} more were left out")
