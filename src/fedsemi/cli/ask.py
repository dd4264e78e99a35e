"""Commands about what to label next: ask a person, and measure what asking brings."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from threading import Event
from typing import Annotated

import typer
from rich.table import Table

from fedsemi.asking.asker import open_asker
from fedsemi.asking.desk import Desk
from fedsemi.asking.page import asking
from fedsemi.asking.queue import Queue
from fedsemi.asking.records import Record, run_curves
from fedsemi.asking.rules import RANDOM, RULES
from fedsemi.asking.shelf import Shelf, open_shelf
from fedsemi.asking.tables import HEAD, METRIC, lines_of, sentences, write_tables
from fedsemi.cli.options import ConfigPath, DataDir, Overrides
from fedsemi.config.experiment import load_config
from fedsemi.config.explain import known
from fedsemi.data.decode import Pixels
from fedsemi.data.folder_labels import LABELS_FILE
from fedsemi.engines.in_process import one_thread
from fedsemi.errors import ConfigError
from fedsemi.runs.lock import RunLock
from fedsemi.storage import make_folder, write_whole
from fedsemi.text.screen import Screen, say, tell


class By(StrEnum):
    """By what pictures can be ranked."""

    uncertainty = "uncertainty"
    coverage = "coverage"
    balance = "balance"
    random = "random"


def ask(
    run: Annotated[Path, typer.Argument(help="A run, or an exported .onnx or .pt2.")],
    data: Annotated[
        Path | None, typer.Option(help="The site's folder of pictures.")
    ] = None,
    budget: Annotated[
        int, typer.Option(min=1, help="How many pictures to ask about.")
    ] = 100,
    by: Annotated[By, typer.Option(help="What comes first.")] = By.random,
    listed: Annotated[
        Path | None,
        typer.Option("--list", help="Write the order as CSV (- prints it), no page."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, help="0 for any free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page.")] = False,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="sites.KEY=VALUE",
            help="How these pictures become pixels, as for `predict`.",
        ),
    ] = None,
) -> None:
    """Ask a person for labels of a site's own pictures, by keyboard; run at the site.

    The unlabeled pictures of a folder are ranked with the model of the run; at random
    unless --by says otherwise, as no rule was found to be better. A page on this
    machine shows one after the other; each label is in labels.csv at once, which the
    next run reads. The same command goes on where it was stopped. Nothing leaves the
    site but, with its next answer to a coordinator, how many labels it has.

    Example: fedsemi ask runs/mine --data practice-c --budget 100
    """
    asker = open_asker(run, overrides or [])
    shelf = open_shelf(run, data, asker.card.class_names)
    with one_thread():
        queue, left_out = asker.queue(shelf, by.value, budget)
    for line in left_out:
        say(line, err=True)
    if listed is not None:
        _list(queue, listed)
    else:
        _serve(shelf, queue, asker.card.pixels, port, browser)


def _list(queue: Queue, target: Path) -> None:
    if str(target) != "-":
        make_folder(target.parent)
        # It names pictures, and is as private as they are.
        write_whole(target, queue.as_csv(), private=True)
        say(f"saved {target}")
    elif sys.stdout.isatty():
        for line in queue.as_csv().decode("utf-8", "surrogateescape").splitlines():
            say(line)
    else:
        typer.echo(queue.as_csv(), nl=False)


def _serve(
    shelf: Shelf, queue: Queue, pixels: Pixels, port: int, browser: bool
) -> None:
    lock = RunLock(shelf.folder)  # two at a time would undo each other's answers
    try:
        desk = Desk(shelf, queue)
        with asking(desk, pixels, port) as server, suppress(KeyboardInterrupt):
            # Scripts wait for this line, so it must not lie in a buffer.
            say(f"{len(desk)} pictures are asked about at {server.address}")
            say("the address is a key: whoever has it can label; Ctrl-C ends the page")
            if browser:
                webbrowser.open(server.address)
            Event().wait()
        labeled, skipped = desk.counts
    finally:
        lock.release()
    console = Screen()
    tell(
        console,
        f"{labeled} of {len(desk)} have a label, {skipped} were skipped; labels are in "
        f"{shelf.folder / LABELS_FILE}",
    )
    if shelf.advice:
        tell(console, shelf.advice)


def label_curve(
    config: ConfigPath,
    budgets: Annotated[
        str, typer.Option(help="Labels for all sites together, by commas.")
    ] = "50,100,200",
    rules: Annotated[
        str, typer.Option(help="Separated by commas; random is always one.")
    ] = ",".join(RULES),
    seeds: Annotated[int, typer.Option(min=1, help="Seeds 1 to N.")] = 5,
    overrides: Overrides = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of records and tables.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Measure in simulation what labels bring, by the rule that asks for them.

    The config is run as it is; each site then asks by a rule for its part of the
    labels, which the simulation knows, and the config is run again with them. All rules
    begin with the same run, and are compared with asking at random. Ctrl-C stops; the
    same command goes on after the last run that was done.

    Example: fedsemi label-curve digits --budgets 50,100,200 --seeds 5
    """
    names = [name.strip() for name in rules.split(",")]
    for name in names:
        known("--rules", name, RULES)
    names = [name for name in RULES if name in names or name == RANDOM]
    arms = [(name, budget) for budget in _budgets(budgets) for name in names]
    folder = out or Path("results") / "ask" / config.stem
    base, console = load_config(config, overrides or []), Screen()
    records: dict[int, Record] = {}
    with one_thread():
        done = run_curves(base, arms, seeds, folder, data_dir)
        for number, (record, point, new) in enumerate(done, start=1):
            records[record.seed] = record
            accuracy = point.scores[METRIC]
            console.print(
                f"[{number}/{seeds * (1 + len(arms))}] seed {record.seed}, "
                f"{point.rule}, {point.budget} labels: {accuracy:.1%}"
                f"{'' if new else ', known already'}",
                soft_wrap=True,
            )
    found = list(records.values())
    write_tables(folder, found)
    _show(console, found)
    console.print(f"saved {folder / 'curve.md'}, curve.csv, curve.svg", soft_wrap=True)


def _show(console: Screen, records: Sequence[Record]) -> None:
    table = Table(box=None, header_style="dim", padding=(0, 1))
    for name in HEAD:
        table.add_column(name, justify="left" if name == "rule" else "right")
    for line in lines_of(records):
        table.add_row(*line.cells)
    console.print(table)
    for sentence in sentences(records):
        tell(console, sentence)


def _budgets(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdecimal() for part in parts):
        raise ConfigError(
            f"--budgets {text}: give numbers of labels, e.g. 50,100,200", code="FS6408"
        )
    # Nobody asked is run in any case.
    return tuple(sorted({int(part) for part in parts} - {0}))
