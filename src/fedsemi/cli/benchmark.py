"""Compare methods under a card of the field, with records that others can share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from fedsemi.cli.evidence import (
    Device,
    Out,
    PlanOnly,
    Probe,
    Seeds,
    Shard,
    carry_out,
    say,
)
from fedsemi.cli.options import DataDir, Overrides, Workers
from fedsemi.evidence.benchmark import benchmarks
from fedsemi.evidence.benchmark_output import show_benchmark, write_benchmarks
from fedsemi.evidence.catalogue import only
from fedsemi.evidence.forecast import Forecast
from fedsemi.evidence.jobs import make_plan
from fedsemi.evidence.profiles import read_profile
from fedsemi.evidence.records import read_records
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.runner import Runner
from fedsemi.evidence.standing import standing
from fedsemi.text.screen import Screen
from fedsemi.use.progress import duration
from fedsemi.use.session import available_cores


def benchmark(
    card: Annotated[str, typer.Argument(help="LC, LPC, LAC or LS.")],
    methods: Annotated[
        str | None,
        typer.Option(help="Separated by commas; left out: those of the card below."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(help="Whom differences are to; left out: equal weights."),
    ] = None,
    profile: Annotated[str, typer.Option(help="smoke or medium.")] = "medium",
    seeds: Seeds = 3,
    pattern: Annotated[
        str | None,
        typer.Option("--only", metavar="DATASET/METHOD", help="Run only these."),
    ] = None,
    overrides: Overrides = None,
    out: Out = None,
    workers: Workers = 0,
    data_dir: DataDir = None,
    device: Device = "cpu",
    plan_only: PlanOnly = False,
    probe: Probe = False,
    shard: Shard = None,
) -> None:
    """Compare methods under a card: scores, ranks and cost on the same data.

    All have the same images, clients, labels, network, rounds and local settings; a
    method from outside is named as in a config, module:Name. Scores have intervals,
    differences are paired by seed, and the picture of ranks says what so few seeds
    can tell apart. Records are those of `fedsemi reproduce`: what was run before is
    not run again, several processes may share a folder, Ctrl-C stops and the same
    command goes on. --plan lists the runs with the minutes that each may take.

    Example: fedsemi benchmark LC --seeds 3 --data-dir data

    Example: fedsemi benchmark LAC --methods lower,uniform,sage,mine:Method --plan
    """
    source = read_profile(profile, overrides or [])
    names = [name.strip() for name in methods.split(",")] if methods else ()
    made = benchmarks(card, names, reference, source)
    wanted = [setting for each in made for setting in each.settings]
    folder, count = out or Path("results") / profile, seeds or source.seeds
    plan = make_plan(only(wanted, pattern), source, count, folder).shard(shard)
    cores, console = workers or available_cores(), Screen()
    if plan_only:
        _list_runs(Forecast(plan, read_records(folder)), console)

    def finish(evidence: Evidence) -> Path | None:
        page = write_benchmarks(folder, made, evidence)
        for each in made:
            if (found := standing(each, evidence)).ran:
                show_benchmark(found, evidence, console)
        return page

    runner = Runner(plan, profile, cores, console, data_dir, device)
    carry_out(runner, source, count, plan_only, probe, finish)


def _list_runs(forecast: Forecast, console: Console) -> None:
    """Name what is to do, each with its record and the minutes that it may take."""
    for job in forecast.plan.todo:
        seconds = forecast.seconds_of(job)
        time = "unknown" if seconds is None else f"about {duration(seconds)}"
        say(console, f"{job.key}  seed {job.seed}  {job.setting.label}: {time}")
