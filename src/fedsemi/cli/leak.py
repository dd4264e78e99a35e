"""The command that asks what a curious server learns about sites."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from fedsemi.cli.options import ConfigPath, DataDir, Overrides
from fedsemi.config.explain import known
from fedsemi.engines.in_process import one_thread
from fedsemi.errors import ConfigError
from fedsemi.evidence.compare import read_own
from fedsemi.leakage.lab import QUESTIONS, Question, Scale
from fedsemi.leakage.publish import write_tables
from fedsemi.leakage.records import Record, make_jobs, run_jobs
from fedsemi.leakage.scores import Estimate
from fedsemi.leakage.tables import (
    ABOUT,
    TITLES,
    Line,
    forms_in,
    lines_of,
    ranged,
    titled,
)
from fedsemi.leakage.words import sentences
from fedsemi.methods import METHODS
from fedsemi.text.screen import Screen

_LEAST = 20
"""Judged sites below which an AUC says nothing."""


def leak(
    config: ConfigPath,
    methods: Annotated[
        str, typer.Option(help="Separated by commas.")
    ] = "semianagg,uniform-semi,fedavg-semi",
    seeds: Annotated[int, typer.Option(min=1, help="Seeds 1 to N.")] = 3,
    sites: Annotated[
        int,
        typer.Option(
            min=_LEAST, help="Sites to judge; the server simulates twice as many."
        ),
    ] = 100,
    sums: Annotated[
        str, typer.Option(help="Over how many sites masked sums go, by commas.")
    ] = "3,10,50",
    noise: Annotated[
        float, typer.Option(min=0, help="Noise multiplier; 0 leaves noise out.")
    ] = 1.0,
    overrides: Overrides = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of records and tables.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Ask what a curious server learns about sites from what they send.

    Which classes a site owns, how many images of each, and whether one image was
    learned from: from the model and from each statistic, plain, as presence bits, in
    masked sums over several sites, and with noise. The judge is the truth, which only a
    simulation knows. Ctrl-C stops; the same command goes on after the last method and
    seed that was done.

    Example: fedsemi leak configs/digits.toml --methods semianagg,fedavg-semi --seeds 3
    """
    names = [name.strip() for name in methods.split(",")]
    for name in names:
        known("--methods", name, METHODS)
    own = read_own(config, overrides or [])
    scale = Scale(sites=sites, sums=_sizes(sums), noise=noise)
    jobs = make_jobs(own, names, seeds, scale)
    folder = out or Path("results") / "leak" / own.name
    console, records = Screen(), list[Record]()
    with one_thread():
        for job, record, new in run_jobs(jobs, folder, data_dir):
            records.append(record)
            done = "measured" if new else "known already"
            console.print(
                f"[{len(records)}/{len(jobs)}] {job.method} seed {job.seed}: {done}",
                soft_wrap=True,
                markup=False,
            )
    write_tables(folder, records)
    for question in QUESTIONS:
        show(console, records, question)
    console.print(f"tables: {folder / 'leak.md'}, leak.csv", soft_wrap=True)


def show(console: Screen, records: Sequence[Record], question: Question) -> None:
    """Print the table of a question and what it means."""
    lines = lines_of(records, question)
    console.print()
    console.print(TITLES[question], style="bold")
    if not lines:
        console.print("nothing to tell apart: every site is like the others")
        return
    console.print(ABOUT[question].replace("*", "'"), style="dim")
    console.print(_table(lines, forms_in(records)))
    for sentence in sentences(records, [question]):
        console.print(f"- {sentence}")


def _table(lines: Sequence[Line], forms: Sequence[str]) -> Table:
    kept = [form for form in forms if any(form in line.forms for line in lines)]
    table = Table(box=None, header_style="dim", padding=(0, 1, 0, 0))
    table.add_column("sent", no_wrap=True)
    for name in ("guess", *kept):
        table.add_column(
            _NARROW.get(name, _narrow(name)), justify="right", no_wrap=True
        )
    known = ""
    for line in lines:
        if line.method != known:
            beside = "" if line.site == "unlabeled" else f", {line.site}"
            table.add_row(f"{line.method}{beside}")
        known = line.method
        found = [line.forms.get(form) for form in kept]
        values = [_short(each.value) if each else "–" for each in found]
        table.add_row(f"  {titled(line.thing)}", _cut(f"{line.guess:.2f}"), *values)
        rates = [each.caught if each else None for each in found]
        if any(rates):
            shown = [_short(rate, percent=True) if rate else "–" for rate in rates]
            table.add_row("  % found at 1 %", "1.0", *shown)
    return table


_NARROW = {"presence": "bits"}
"""Names of forms that would be wider than their numbers; a terminal is narrow."""


def _narrow(form: str) -> str:
    return form.replace("sum of ", "Σ").replace(" + noise", "+n.")


def _short(value: Estimate, percent: bool = False) -> str:
    """Write an estimate in few letters.

    >>> _short(Estimate(3, 0.918, 0.85, 0.986))
    '.92±.07'
    >>> _short(Estimate(3, 0.021, 0.01, 0.032), percent=True)
    '2.1±1.1'
    """
    parts = ranged(value, percent).removesuffix(" %").split(" ± ")
    return "±".join(parts if percent else map(_cut, parts))


def _cut(number: str) -> str:
    return number.removeprefix("0")


def _sizes(text: str) -> tuple[int, ...]:
    sizes = [part.strip() for part in text.split(",") if part.strip()]
    if not all(size.isdecimal() and int(size) > 1 for size in sizes):
        raise ConfigError(
            f"--sums {text}: give numbers of sites from 2 on, e.g. 3,10,50, or nothing",
            code="FS6304",
        )
    return tuple(dict.fromkeys(map(int, sizes)))
