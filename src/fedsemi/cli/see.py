"""Commands for looking at runs."""

from __future__ import annotations

import webbrowser
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Annotated

import typer

from fedsemi.cli.options import DataDir
from fedsemi.report.build import report as build_report
from fedsemi.report.diff import differences
from fedsemi.report.live import following
from fedsemi.report.pictures import pictures_of
from fedsemi.report.run import read_run, runs_in
from fedsemi.report.view import main_of
from fedsemi.storage import make_folder, write_whole
from fedsemi.text.screen import Screen, say

RunPath = Annotated[Path, typer.Argument(help="Folder of a run.", show_default=False)]


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of runs, or a folder with runs in it.", show_default=False
        ),
    ],
    out: Annotated[Path, typer.Option(help="The page.")] = Path("report.html"),
    pictures: Annotated[
        bool | None,
        typer.Option(
            "--pictures/--no-pictures",
            help="Show images of the data; by default those that anybody can get.",
            show_default=False,
        ),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Make a page of a run, or compare several; it opens without a network.

    Several are shown side by side, e.g. the three that `fedsemi demo` leaves.

    Example: fedsemi report runs/demo --out report.html
    """
    found = [read_run(each) for path in runs for each in runs_in(path)]
    shown = pictures_of(found[main_of(found)], pictures, data_dir)
    page = build_report(found, shown).encode()
    make_folder(out.parent)
    # Own pictures are private, wherever else they appear.
    write_whole(out, page, private=bool(pictures))
    number = f", {len(found)} runs" if len(found) > 1 else ""
    remark = f"; {shown.why_not}" if shown.why_not else ""
    size = f"{len(page) / 1000:,.0f} kB{number}"
    Screen().print(f"saved {out} ({size}){remark}", soft_wrap=True)


def diff(a: RunPath, b: RunPath) -> None:
    """Say in what two runs differ: settings, results, and round by round.

    Example: fedsemi diff runs/demo/semianagg runs/demo/lower-bound
    """
    Screen().print(differences(read_run(a), read_run(b)))


def watch(
    run: RunPath,
    port: Annotated[int, typer.Option(min=0, help="0 for any free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page.")] = False,
) -> None:
    """Follow a run in the browser, also one started elsewhere; Ctrl-C ends the page.

    Example: fedsemi watch runs/demo/semianagg --browser
    """
    read_run(run)
    with following(run, port) as server:
        # Scripts wait for this line, so it must not lie in a buffer.
        say(f"{run} is shown at {server.address} (Ctrl-C to stop)")
        if browser:
            webbrowser.open(server.address)
        with suppress(KeyboardInterrupt):
            Event().wait()
