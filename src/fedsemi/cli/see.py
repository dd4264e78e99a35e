"""Commands for looking at runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from fedsemi.report.build import report as build_report
from fedsemi.report.run import read_run
from fedsemi.storage import make_folder, write_whole

RunPath = Annotated[Path, typer.Argument(help="Folder of a run.", show_default=False)]


def report(
    runs: Annotated[
        list[Path], typer.Argument(help="Folders of runs.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="The page.")] = Path("report.html"),
) -> None:
    """Make a page of a run, or compare several; it opens without a network.

    Example: fedsemi report runs/demo/* --out report.html
    """
    page = build_report([read_run(path) for path in runs])
    make_folder(out.parent)
    write_whole(out, page.encode())
    size = len(page.encode()) / 1000
    Console().print(f"saved {out} ({size:,.0f} kB)", soft_wrap=True)
