"""Commands that reproduce the paper and compare methods."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from fedsemi.cli.options import DataDir, Overrides, Workers
from fedsemi.evidence.catalogue import Setting, find, only
from fedsemi.evidence.estimate import Clock
from fedsemi.evidence.figures import CATALOGUE
from fedsemi.evidence.jobs import Job, Plan, make_plan
from fedsemi.evidence.output import write_all
from fedsemi.evidence.profiles import Profile, read_profile
from fedsemi.evidence.records import Record, read_records, score
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.runner import Runner
from fedsemi.progress import duration
from fedsemi.session import available_cores

_KB_A_RECORD = 12

Seeds = Annotated[int, typer.Option(min=0, help="Seeds 1 to N; 0 for the profile's.")]
Out = Annotated[
    Path | None, typer.Option(help="Folder of records and tables; results/<profile>.")
]
PlanOnly = Annotated[bool, typer.Option("--plan", help="Show the plan and stop.")]
Probe = Annotated[bool, typer.Option(help="Time a few rounds for the estimate.")]


def reproduce(
    names: Annotated[
        list[str], typer.Argument(help="table1 … table9, fig1 … fig12, or all.")
    ],
    profile: Annotated[str, typer.Option(help="smoke, small or paper.")] = "small",
    seeds: Seeds = 0,
    pattern: Annotated[
        str | None,
        typer.Option("--only", metavar="DATASET/METHOD", help="Run only these."),
    ] = None,
    overrides: Overrides = None,
    out: Out = None,
    workers: Workers = 0,
    data_dir: DataDir = None,
    device: Annotated[str, typer.Option(help="Where to compute.")] = "cpu",
    plan_only: PlanOnly = False,
    probe: Probe = True,
) -> None:
    """Make a table or figure of the paper again, with error bars.

    A run is found by the hash of its settings, so that what was done before, here or on
    another machine, is not done again. Ctrl-C stops; the same command goes on.

    --only takes lists: --only svhn,isic18/lower,upper,semianagg

    Example: fedsemi reproduce table1 --profile small --seeds 3 --only svhn
    """
    artefacts = find(names, CATALOGUE)
    chosen = read_profile(profile, overrides or [])
    folder = out or Path("results") / profile
    wanted = [each for artefact in artefacts for each in artefact.settings]
    plan = make_plan(only(wanted, pattern), chosen, seeds or chosen.seeds, folder)
    console = Console()
    runner = Runner(
        plan, profile, workers or available_cores(), console, data_dir, device
    )
    _show_plan(plan, Clock(runner, read_records(folder)), console, probe)
    if plan_only:
        return
    try:
        runner.run(_telling(plan, console))
    finally:
        count = max(seeds or chosen.seeds, 1)
        evidence = Evidence(chosen, count, read_records(folder))
        page = write_all(folder, artefacts, evidence)
        console.print(f"tables and plots: {page}", soft_wrap=True)


def _show_plan(plan: Plan, clock: Clock, console: Console, probe: bool) -> None:
    todo, done = plan.todo, plan.done
    console.print(
        f"{len(plan.jobs)} runs: {len(done)} done, {len(todo)} to do; about "
        f"{_KB_A_RECORD * len(todo)} kB of records in {plan.folder}",
        soft_wrap=True,
        highlight=False,
    )
    for setting in plan.unbuilt:
        console.print(f"{setting.label}: this method is not built, left out")
    if not todo:
        return
    seconds = clock.seconds_left(probe)
    if seconds is None:
        console.print("time unknown; --probe measures it")
    else:
        workers = clock.runner.workers
        console.print(f"about {duration(seconds)} with {workers} workers")


def _telling(plan: Plan, console: Console) -> Callable[[Job, Record], None]:
    def told(job: Job, record: Record) -> None:
        accuracy = score(record, "accuracy")
        balanced = score(record, "balanced_accuracy")
        console.print(
            f"[{len(plan.done)}/{len(plan.jobs)}] {job.setting.label} seed {job.seed}: "
            f"Acc {accuracy:.1f} B-Acc {balanced:.1f}, {duration(record['seconds'])}",
            soft_wrap=True,
            highlight=False,
            markup=False,
        )

    return told
