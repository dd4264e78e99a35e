"""The command about data sets: what there is, what belongs where, and to fetch it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from fedsemi.cli.options import DataDir
from fedsemi.data.datasets import DATASETS, refuse_unusable, search_path
from fedsemi.data.download import fetch, size_of
from fedsemi.data.readers.files import verify
from fedsemi.data.readers.source import DatasetSource, OfficialFile
from fedsemi.errors import ConfigError, DataError, nearest
from fedsemi.text.printable import printable, typed
from fedsemi.text.screen import Screen

GET = "get"
LARGE = 100_000_000
"""Bytes from which on a download is asked for first."""


def datasets(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[get] [NAME]", help="Show this one, or fetch it."),
    ] = None,
    data_dir: DataDir = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Fetch large files without asking.")
    ] = False,
) -> None:
    """List the data sets, show one, or download it: fedsemi datasets get NAME.

    Files come from their official addresses, go on after a cut connection, and get
    their names only if their published sums are right.

    Example: fedsemi datasets get fashion-mnist
    """
    console = Screen()
    match words or []:
        case []:
            _list(console, data_dir)
        case [name] if name != GET:
            _show(_source(name), console, data_dir)
        case [verb, name] if verb == GET:
            _get(_source(name), console, data_dir, yes)
        case _:
            raise ConfigError(
                "give the name of one data set: `fedsemi datasets NAME` or `fedsemi "
                "datasets get NAME`",
                code="FS4107",
            )


def _source(name: str) -> DatasetSource:
    refuse_unusable(name)
    source = DATASETS.own.get(name)
    if not isinstance(source, DatasetSource):
        raise DataError(
            f"unknown data set '{name}'{nearest(name, DATASETS.own)}; `fedsemi "
            "datasets` lists them",
            "FS3003",
        )
    return source


def _list(console: Screen, data_dir: Path | None) -> None:
    table = Table("data set", "what", box=None)
    for column in ("classes", "train / test"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("at hand")
    origins = Table("data set", "license, and where it comes from", box=None)
    for name, source in DATASETS.own.items():
        assert isinstance(source, DatasetSource)
        table.add_row(
            name,
            source.description,
            str(len(source.class_names)),
            " / ".join(f"{count:,}" for count in source.counts),
            "yes" if source.at_hand(search_path(data_dir)) else "no",
        )
        origins.add_row(name, Text(f"{source.license}\n{source.where}"))
    console.print(table)
    places = ", ".join(str(path) for path in search_path(data_dir))
    console.print()
    console.print(
        f"looked for in {places}; --data-dir or FEDSEMI_DATA names another folder"
    )
    console.print("fetch one: fedsemi datasets get NAME")
    console.print()
    console.print(origins)


def _show(source: DatasetSource, console: Screen, data_dir: Path | None) -> None:
    train, test = source.counts
    there = "yes"
    if not source.at_hand(search_path(data_dir)):
        command = typed("fedsemi", "datasets", GET, source.name)
        there = f"no; {f'{command}, or ' if source.official else ''}{source.where}"
    console.print(f"{source.name}: {source.description}", style="bold")
    facts = Table(box=None, padding=(0, 1), show_header=False)
    facts.add_column(no_wrap=True, style="dim")
    facts.add_column()
    for title, value in (
        ("images", f"{train:,} for training, {test:,} for testing"),
        ("classes", ", ".join(source.class_names)),
        ("mean, deviation", source.normalization),
        ("license", source.license),
        ("cite", source.citation),
        ("at hand", there),
    ):
        facts.add_row(title, value)
    console.print(facts)
    for path, file in _places(source, data_dir).items():
        console.print(f"{file.url} belongs at {path}", soft_wrap=True)


def _get(
    source: DatasetSource, console: Screen, data_dir: Path | None, yes: bool
) -> None:
    console.print(f"license: {source.license}", soft_wrap=True)
    console.print(f"please cite: {source.citation}", soft_wrap=True)
    places = _places(source, data_dir)
    if not places:
        if source.at_hand(search_path(data_dir)):
            console.print(f"{source.name} is at hand")
            return
        raise DataError(
            f"'{source.name}' cannot be fetched by a command; {source.where}, and put "
            f"the files in {search_path(data_dir)[0].absolute()}",
            "FS3055",
        )
    missing = {path: file for path, file in places.items() if not path.exists()}
    for path, file in places.items():
        if path not in missing:
            verify(path, file.sums)
            console.print(f"{path} is there", soft_wrap=True)
    if missing and (yes or _agreed(missing)):
        _fetch(missing, console)
    elif missing:
        console.print("nothing was fetched")
        return
    console.print(f"{source.name} is at hand: --set data.name={source.name}")


def _places(source: DatasetSource, data_dir: Path | None) -> dict[Path, OfficialFile]:
    folder = search_path(data_dir)[0]
    return {} if source.official is None else source.official.places(folder)


def _agreed(missing: dict[Path, OfficialFile]) -> bool:
    """Ask before large files, and before those of which nobody says how large."""
    sizes = [size_of(file, path) for path, file in missing.items()]
    known = sum(size or 0 for size in sizes)
    if known < LARGE and None not in sizes:
        return True
    told = f"{known / 1e6:,.0f} MB" + (" or more" if None in sizes else "")
    try:
        return typer.confirm(f"Fetch {told}?", default=True)
    except typer.Abort:
        raise ConfigError(
            f"{told} to fetch, and nobody to ask; pass --yes", code="FS3056"
        ) from None


def _fetch(missing: dict[Path, OfficialFile], console: Screen) -> None:
    for path, file in missing.items():
        console.print(f"fetching {file.url}", soft_wrap=True)
        _fetch_one(path, file, console)
        if file.sums:
            console.print(f"saved {path}; its sum is right", soft_wrap=True)
        else:
            console.print(
                f"saved {path}; its publishers give no sum, so it was not checked",
                soft_wrap=True,
            )


def _fetch_one(path: Path, file: OfficialFile, console: Screen) -> None:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(printable(path.name), total=None)

        def show(done: int, total: int | None) -> None:
            progress.update(task, completed=done, total=total)

        fetch(file, path, show)
