"""Commands that reproduce the paper and compare methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from fedsemi.cli.options import ConfigPath, DataDir, Overrides, Workers
from fedsemi.data.datasets import compact_file
from fedsemi.evidence.catalogue import find, only
from fedsemi.evidence.compare import comparison_of, read_own
from fedsemi.evidence.dry_check import dry_check
from fedsemi.evidence.estimate import Clock
from fedsemi.evidence.figures import CATALOGUE
from fedsemi.evidence.forecast import Forecast
from fedsemi.evidence.jobs import Job, Plan, Source, make_plan
from fedsemi.evidence.output import write_all
from fedsemi.evidence.profiles import Profile, read_profile
from fedsemi.evidence.questions import QUESTIONS
from fedsemi.evidence.records import Record, read_records, score
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.runner import Runner
from fedsemi.evidence.terminal import show
from fedsemi.text.screen import Screen
from fedsemi.use.progress import duration
from fedsemi.use.session import available_cores

_KB_A_RECORD = 12

Seeds = Annotated[int, typer.Option(min=0, help="Seeds 1 to N; 0 for the profile's.")]
Out = Annotated[Path | None, typer.Option(help="Folder of records, tables and plots.")]
PlanOnly = Annotated[bool, typer.Option("--plan", help="Show the plan and stop.")]
Probe = Annotated[bool, typer.Option(help="Time a few rounds for the estimate.")]
Device = Annotated[str, typer.Option(help="Where to compute: cpu, cuda, mps.")]


Shard = Annotated[
    str | None,
    typer.Option(
        metavar="I/N",
        help="Do only the I-th of N parts; N processes on a shared folder do it all.",
    ),
]


def reproduce(
    names: Annotated[
        list[str],
        typer.Argument(help="table1 … table9, fig1 … fig12, q1 … q11, or all."),
    ],
    profile: Annotated[
        str, typer.Option(help="smoke, small, choosing, medium or paper.")
    ] = "small",
    seeds: Seeds = 0,
    pattern: Annotated[
        str | None,
        typer.Option("--only", metavar="DATASET/METHOD/CELL", help="Run only these."),
    ] = None,
    overrides: Overrides = None,
    out: Out = None,
    workers: Workers = 0,
    data_dir: DataDir = None,
    device: Device = "cpu",
    plan_only: PlanOnly = False,
    probe: Probe = True,
    shard: Shard = None,
) -> None:
    """Make a table or figure of the paper again, with error bars.

    A run is found by the hash of its settings: what was done before, here or on another
    machine, is not done again. Ctrl-C stops; the same command goes on. The results
    are in results/PROFILE unless --out says otherwise.

    --only takes lists: --only svhn,isic18/lower,upper,semianagg, and the cell of a
    sweep: --only mnist/uniform,semianagg/rare.holders=2,rare.labeled_size=200

    Example: fedsemi reproduce table1 --profile small --seeds 3 --only svhn

    Example: fedsemi reproduce table1 --shard $SLURM_ARRAY_TASK_ID/8
    """
    source = read_profile(profile, overrides or []).with_published(data_dir)
    everything = CATALOGUE | QUESTIONS
    artifacts = find(names, everything)
    for each in artifacts:
        source.check_covers(each.settings)
    known = [each for each in everything.values() if source.covers(each.settings)]
    wanted = [each for artifact in artifacts for each in artifact.settings]
    folder, count = out or Path("results") / profile, seeds or source.seeds
    plan = make_plan(only(wanted, pattern), source, count, folder).shard(shard)
    console = Screen()
    cores = workers or available_cores()
    runner = Runner(plan, profile, cores, console, data_dir, device)
    say(console, *partition_lines(source, plan), *data_lines(source, plan, data_dir))
    if profile == "paper" and plan_only:
        # What is meant for a GPU is not probed on whatever this machine has.
        say(console, _number_of_runs(plan), *dry_check(plan))
        return

    def finish(evidence: Evidence) -> Path:
        # The page always has everything that is known, whatever is run this time.
        return write_all(folder, known, evidence)

    carry_out(runner, source, count, plan_only, probe, finish)


def partition_lines(source: Profile, plan: Plan) -> Iterator[str]:
    """Say for each data set that has a published partition whether it is used."""
    for dataset in dict.fromkeys(job.setting.dataset for job in plan.jobs):
        name = source.tables[dataset].get("published")
        jobs = [job for job in plan.jobs if job.setting.dataset == dataset]
        used = sum(job.experiment.partition.file is not None for job in jobs)
        if name and used:
            yield f"{dataset}: published partition {name} in {used} of {len(jobs)} runs"
        elif name:
            yield f"{dataset}: partition drawn from the seed, not the published {name}"


def data_lines(source: Profile, plan: Plan, data_dir: Path | None) -> Iterator[str]:
    """Say where a profile that is meant for the official files reads compact ones."""
    for dataset in dict.fromkeys(job.setting.dataset for job in plan.jobs):
        table = source.tables[dataset]
        if not table.get("published"):
            continue
        if file := compact_file(table["data"]["name"], data_dir):
            yield f"{dataset}: {file} is a compact file, not the paper's images"


def compare(
    config: ConfigPath,
    methods: Annotated[
        str, typer.Option(help="Separated by commas; lower and upper are the bounds.")
    ] = "lower,fedavg-semi,uniform-semi,semianagg,upper",
    seeds: Seeds = 3,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE,VALUE",
            help="Sweep a setting; several of these options multiply.",
        ),
    ] = None,
    overrides: Overrides = None,
    out: Out = None,
    workers: Workers = 0,
    data_dir: DataDir = None,
    device: Device = "cpu",
    plan_only: PlanOnly = False,
    probe: Probe = True,
) -> None:
    """Compare methods on a config of your own, over several seeds.

    All methods share the stages before the last one, which are run once for each seed.
    A method takes over those settings of the last stage that it knows.

    Example: fedsemi compare configs/cpu/svhn.toml --methods uniform-semi,semianagg

    Example: fedsemi compare digits --grid partition.dirichlet_alpha=0.1,0.8,2
    """
    source = read_own(config, overrides or [], grid or [])
    artifact = comparison_of(source, [name.strip() for name in methods.split(",")])
    folder = out or Path("results") / "compare" / source.name
    plan = make_plan(artifact.settings, source, max(seeds, 1), folder)
    cores, console = workers or available_cores(), Screen()
    runner = Runner(plan, source.name, cores, console, data_dir, device)

    def finish(evidence: Evidence) -> Path:
        page = write_all(folder, [artifact], evidence)
        show(artifact, evidence, console)
        return page

    carry_out(runner, source, max(seeds, 1), plan_only, probe, finish)


def carry_out(
    runner: Runner,
    source: Source,
    seeds: int,
    plan_only: bool,
    probe: bool,
    finish: Callable[[Evidence], Path | None],
) -> None:
    """Show a plan and carry it out; `finish` writes what there is, also when stopped.

    It returns the page that it wrote, if it wrote one.
    """
    folder, console = runner.plan.folder, runner.console
    records = read_records(folder)
    runner = replace(runner, forecast=Forecast(runner.plan, records))
    _show_plan(runner.plan, Clock(runner, records), console, probe)
    if plan_only:
        return
    try:
        runner.run(_telling(runner, console))
    finally:
        page = finish(Evidence(source, seeds, read_records(folder)))
        if page is not None:
            console.print(f"tables and plots: {page}", soft_wrap=True)


def say(console: Console, *lines: str) -> None:
    """Print lines as they are."""
    for line in lines:
        console.print(line, soft_wrap=True, highlight=False, markup=False)


def _number_of_runs(plan: Plan) -> str:
    todo, done = plan.todo, plan.done
    return (
        f"{len(plan.jobs)} runs: {len(done)} done, {len(todo)} to do; about "
        f"{_KB_A_RECORD * len(todo)} kB of records in {plan.folder}"
    )


def _show_plan(plan: Plan, clock: Clock, console: Console, probe: bool) -> None:
    say(console, _number_of_runs(plan))
    if not plan.todo:
        return
    seconds, forecast = clock.seconds_left(probe), clock.runner.forecast
    if seconds is not None:
        console.print(f"about {duration(seconds)}, workers: {clock.runner.workers}")
    elif forecast and (rough := forecast.seconds_left()) is not None:
        console.print(f"about {duration(rough)}, by finished runs of other rows")
    else:
        console.print("time not measured; leave --no-probe away to measure it")


def _telling(runner: Runner, console: Console) -> Callable[[Job, Record], None]:
    plan, forecast = runner.plan, runner.forecast

    def told(job: Job, record: Record) -> None:
        left = None
        if forecast is not None:
            forecast.note(record)
            left = forecast.seconds_left()
        rest = f"; about {duration(left)} left" if left else ""
        accuracy = score(record, "accuracy") or 0.0
        balanced = score(record, "balanced_accuracy") or 0.0
        say(
            console,
            f"[{len(plan.done)}/{len(plan.jobs)}] {job.setting.label} seed {job.seed}: "
            f"Acc {accuracy:.1f} B-Acc {balanced:.1f}, {duration(record['seconds'])}"
            f"{rest}",
        )

    return told
