"""Commands that train."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from fedsemi.cli.demo import run_demo
from fedsemi.cli.folders import show_folders
from fedsemi.cli.labels_only import run_labels_only, tell_of
from fedsemi.cli.options import DataDir, Overrides, Workers, require_flower
from fedsemi.config.experiment import load_config
from fedsemi.config.files import CONFIGS
from fedsemi.errors import ConfigError, Mismatch
from fedsemi.report.analysis import federation_gaps
from fedsemi.report.live import following
from fedsemi.report.run import Run, read_run
from fedsemi.runs.folder import RunFolder, read_json, resuming
from fedsemi.runs.records import Step
from fedsemi.simulation.build import Simulation, build
from fedsemi.simulation.run import run_simulation
from fedsemi.text.printable import typed
from fedsemi.text.screen import Screen, tell, warn
from fedsemi.use.evaluation_tables import lines_of
from fedsemi.use.mlflow_sink import require_mlflow, told_to_mlflow
from fedsemi.use.progress import client_table, duration
from fedsemi.use.resuming import config_of, refuse_coordinators_run, refuse_flower_run
from fedsemi.use.session import available_cores, record_run

Result = tuple[Step | None, dict[str, Any]]
Watch = Callable[[Iterator[Step]], Result]


class Engine(enum.StrEnum):
    """Where clients learn."""

    local = "local"
    flower = "flower"


_REMEDY = {
    Engine.local: "continue with `{}`",
    Engine.flower: "begin it again with --overwrite; on Flower it cannot be continued",
}


def demo(
    overrides: Overrides = None,
    out: Annotated[Path, typer.Option(help="Folder of the runs.")] = Path("runs/demo"),
    workers: Workers = 0,
    data_dir: DataDir = None,
) -> None:
    """Watch SemiAnAgg train ten sites, one with labels and nine without.

    Trains the labeled-only lower bound, SemiAnAgg and the fully labeled upper bound on
    real images that are installed with the package, and compares them.
    """
    run_demo(
        load_config(CONFIGS / "demo.toml", overrides or []),
        out,
        workers,
        Screen(),
        data_dir,
        overrides or [],
    )


def run(
    config: Annotated[
        Path | None, typer.Argument(help="A TOML file, see configs/.")
    ] = None,
    overrides: Overrides = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run; runs/<config> by default.")
    ] = None,
    workers: Workers = 0,
    data_dir: DataDir = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Continue the run in this folder."),
    ] = None,
    fork: Annotated[
        bool,
        typer.Option(help="Go on from --resume DIR with other settings, in --out."),
    ] = False,
    labels_only: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Train on the labels of this run alone, to see what the rest brought.",
        ),
    ] = None,
    checkpoint_every: Annotated[
        int, typer.Option(min=1, help="Save after every n-th round.")
    ] = 1,
    overwrite: Annotated[
        bool, typer.Option(help="Replace an unfinished run in the same folder.")
    ] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Show the run in the browser meanwhile.")
    ] = False,
    mlflow: Annotated[
        bool,
        typer.Option(
            "--mlflow", help="Log rounds to the server that MLFLOW_TRACKING_URI names."
        ),
    ] = False,
    engine: Annotated[
        Engine, typer.Option(help="This machine's workers, or Flower's simulation.")
    ] = Engine.local,
    ray_address: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="With --engine flower: a Ray cluster that sees the folder of the run.",
        ),
    ] = None,
) -> None:
    """Run an experiment and keep its record.

    The folder gets config.json, manifest.json, metrics.jsonl (a line a round),
    summary.json, model.safetensors and checkpoints. A run that was stopped, by whatever
    it was, ends in the same bits if it is continued with --resume.

    Example: fedsemi run configs/digits.toml --set stages.1.rounds=10 --out runs/short

    Example: fedsemi run --resume runs/short --set stages.1.rounds=20

    Example: fedsemi run --labels-only runs/short
    """
    if labels_only is not None:
        if (
            config
            or overrides
            or out
            or resume
            or fork
            or live
            or mlflow
            or (engine != "local")
        ):
            raise ConfigError(
                "--labels-only DIR takes all settings from the run in DIR; leave the "
                "others away, but for --workers and --data-dir",
                code="FS4107",
            )
        run_labels_only(labels_only, workers, data_dir)
        return
    if ray_address is not None and engine is not Engine.flower:
        raise ConfigError(
            "--ray-address is for --engine flower; add that, or leave it away",
            code="FS4107",
        )
    if resume is not None and not fork:
        refuse_coordinators_run(resume)
    source = config or (resume and config_of(resume))
    if source is None:
        raise ConfigError("give a config, or a run with --resume DIR", code="FS4107")
    title = resume.name if resume and config is None else source.stem
    out = _folder_of(source, out, resume, fork)
    console = Screen()
    if mlflow:
        require_mlflow()
    simulation = build(load_config(source, overrides or []), data_dir)
    if resume is None:
        folder = RunFolder.new(out, simulation, overwrite)
    else:
        folder = _continued(out, simulation, resume, fork)
    folder.remedy = _REMEDY[engine].format(resuming(out, data_dir))
    with folder, _live_page(out, console) if live else nullcontext():
        if simulation.folders is not None:
            show_folders(simulation.folders, out, console)
        if folder.start is None:
            warn(console, federation_gaps(simulation).warnings)
        cores = workers or available_cores()

        def watch(steps: Iterator[Step]) -> Result:
            every = checkpoint_every
            if mlflow:
                steps = told_to_mlflow(steps, out, partial(tell, console))
            return record_run(folder, simulation, steps, title, console, every, cores)

        if engine is Engine.flower:
            last, summary = _on_flower(simulation, folder, watch, ray_address)
        else:
            refuse_flower_run(folder)
            last, summary = watch(run_simulation(simulation, cores, folder.start))
    if last is not None:
        console.print(client_table(last.record))
    recorded = read_run(out)
    console.print(_result_table(summary, recorded))
    if recorded.delivered:
        console.print(f"tests and model: {recorded.delivered}", soft_wrap=True)
    for line in lines_of(recorded.evaluation) if recorded.evaluation else ():
        tell(console, line)
    console.print(f"{duration(summary['seconds'])}; records in {out}", soft_wrap=True)
    tell_of(out, console, data_dir)


def _continued(
    out: Path, simulation: Simulation, origin: Path, fork: bool
) -> RunFolder:
    """Go on with a run; if its data changed, name the sites with more or less of it."""
    try:
        if fork:
            return RunFolder.fork(out, simulation, origin)
        return RunFolder.resume(out, simulation)
    except Mismatch as error:
        manifest = origin / "manifest.json"
        known = read_json(manifest) if manifest.is_file() else {}
        before, now = known.get("num_images", {}), simulation.num_images()
        changed = [
            f"{name} {before[name]} → {count}"
            for name, count in now.items()
            if before.get(name, count) != count
        ]
        told = f" (images: {', '.join(changed)})" if changed else ""
        raise Mismatch(f"{error.args[0]}{told}", error.code) from None


def _on_flower(
    simulation: Simulation, folder: RunFolder, watch: Watch, ray_address: str | None
) -> Result:
    require_flower()
    from fedsemi.deployment.one_machine.simulate import Cluster, run_on_ray

    if folder.start is not None:
        raise ConfigError(
            "a simulation on Flower cannot be continued; begin it again with "
            "--overwrite, or run it with --engine local",
            code="FS4110",
        )
    # The machines of a cluster share the folder of the run, not each other's /tmp.
    cluster = ray_address and Cluster(ray_address, folder.path.absolute())
    return run_on_ray(simulation, watch, cluster or None)


def _folder_of(source: Path, out: Path | None, resume: Path | None, fork: bool) -> Path:
    if resume is None:
        if fork:
            raise ConfigError("--fork needs --resume DIR", code="FS4107")
        return out or Path("runs") / source.stem
    if fork and (out is None or out.resolve() == resume.resolve()):
        raise ConfigError("--fork needs another folder with --out", code="FS4107")
    if not fork and out is not None and out.resolve() != resume.resolve():
        raise ConfigError(
            f"--resume continues in '{resume}'; leave --out away, or pass --fork",
            code="FS4107",
        )
    config_of(resume)  # a slip in the name of a run must not begin another one
    return out or resume


@contextmanager
def _live_page(out: Path, console: Console) -> Iterator[None]:
    with following(out) as page:
        console.print(f"watch it at {page.address}", soft_wrap=True)
        yield
    again = typed("fedsemi", "watch", out)
    console.print(f"the page is closed; `{again}` opens it again")


def _result_table(summary: dict[str, Any], run: Run) -> Table:
    table = Table(box=None, header_style="dim", padding=(0, 2))
    for name in ("stage", "method", "which", "accuracy", "B-Acc", "AUC"):
        table.add_column(name)
    for stage in summary["stages"]:
        tests = len(run.last_tests(stage["stage"]))
        shown = {
            "last_round": "last round",
            "mean_of_last_10": f"mean of the last {tests}",
            "best_round_on_test_set": "best round on test set",
        }
        for which, words in shown.items():
            scores = stage[which]
            auc = scores["auc"]
            table.add_row(
                str(stage["stage"] + 1),
                stage["method"],
                words,
                f"{scores['accuracy']:.2%}",
                f"{scores['balanced_accuracy']:.2%}",
                "–" if auc is None else f"{auc:.2%}",
            )
    return table
