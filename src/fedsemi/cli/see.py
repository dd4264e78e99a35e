"""Commands for looking at runs."""

from __future__ import annotations

import webbrowser
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Annotated

import typer

from fedsemi.report.build import report as build_report
from fedsemi.report.diff import differences
from fedsemi.report.live import following
from fedsemi.report.run import read_run, runs_in
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
) -> None:
    """Make a page of a run, or compare several; it opens without a network.

    Several are shown side by side, e.g. the three that `fedsemi demo` leaves.

    Example: fedsemi report runs/demo --out report.html
    """
    found = [each for path in runs for each in runs_in(path)]
    page = build_report([read_run(path) for path in found])
    make_folder(out.parent)
    write_whole(out, page.encode())
    size = len(page.encode()) / 1000
    shown = f", {len(found)} runs" if len(found) > 1 else ""
    Screen().print(f"saved {out} ({size:,.0f} kB{shown})", soft_wrap=True)


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
