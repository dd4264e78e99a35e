"""Run something again, to see that it comes out the same."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from fedsemi.cli.options import DataDir, Workers
from fedsemi.config.experiment import load_config
from fedsemi.errors import Mismatch
from fedsemi.evidence.jobs import Plan
from fedsemi.evidence.runner import Runner
from fedsemi.evidence.verify import Claim, read_claim, unequal
from fedsemi.runs.folder import RunFolder, read_json
from fedsemi.runs.manifest import identity
from fedsemi.simulation.build import Simulation, build
from fedsemi.simulation.run import run_simulation
from fedsemi.text.printable import typed
from fedsemi.text.screen import Screen
from fedsemi.use.session import available_cores, record_run

_DIGESTS = ("model_sha256", "metrics_sha256")


def rerun(
    run: Annotated[
        Path,
        typer.Argument(help="The folder of a finished run, or a record of results/."),
    ],
    workers: Workers = 0,
    data_dir: DataDir = None,
) -> None:
    """Run a finished run again from its own record, and compare bit for bit.

    A record of `fedsemi reproduce` or `fedsemi benchmark` holds all settings as well:
    whoever has the data and, for a method from outside, its code, can check one seed
    of what somebody else measured.

    Example: fedsemi rerun runs/short

    Example: fedsemi rerun results/medium/runs/72ba60574b8b76c8.json
    """
    if run.is_file():
        _rerun_record(read_claim(run), workers, data_dir, Screen())
        return
    summary, made_by = read_json(run / "summary.json"), read_json(run / "manifest.json")
    simulation = build(load_config(run / "config.json"), data_dir)
    console = Screen()
    for line in _differences(made_by, identity(simulation)):
        console.print(f"note: {line}", soft_wrap=True)
    with tempfile.TemporaryDirectory(prefix="fedsemi-rerun-") as folder:
        again = _trained(simulation, Path(folder), run, workers, console)
    unequal = _differences(
        {name: summary[name] for name in _DIGESTS}, {n: again[n] for n in _DIGESTS}
    )
    if unequal:
        raise Mismatch(
            f"'{run}' did not come out the same: {'; '.join(unequal)}", code="FS1304"
        )
    for name in _DIGESTS:
        console.print(f"same {name} {again[name]}", soft_wrap=True)


def _rerun_record(
    claim: Claim, workers: int, data_dir: Path | None, console: Console
) -> None:
    """Run the job of a record, its warm-up too, and compare what it claims."""
    if claim.renamed:
        console.print(
            f"note: '{claim.path.name}' is named {claim.job.key} here; its settings "
            "were changed, or the code of a plug-in has",
            soft_wrap=True,
        )
    cores = workers or available_cores()
    with tempfile.TemporaryDirectory(prefix="fedsemi-rerun-") as folder:
        plan = Plan((claim.job,), Path(folder))
        profile = str(claim.record.get("profile"))
        again = Runner(plan, profile, cores, console, data_dir).run_job(claim.job)
    then = claim.record.get("software") or {}
    now = {name: value for name, value in again["software"].items() if name in then}
    for line in _differences(then, now):
        console.print(f"note: {line}", soft_wrap=True)
    if differing := unequal(claim, again):
        raise Mismatch(
            f"'{claim.path}' did not come out the same: {', '.join(differing)}",
            code="FS1304",
        )
    tests = len(again["rounds"]["round"])
    console.print(f"same model_sha256 {again['model_sha256']}", soft_wrap=True)
    console.print(f"same {tests} tests on the way, same data and partition")


def _trained(
    simulation: Simulation, out: Path, run: Path, workers: int, console: Console
) -> dict[str, Any]:
    """Train in a folder that nobody can continue in; return the summary."""
    cores = workers or available_cores()
    with RunFolder.new(out, simulation) as folder:
        folder.remedy = f"begin again with `{typed('fedsemi', 'rerun', run)}`"
        steps = run_simulation(simulation, cores)
        _, summary = record_run(
            folder, simulation, steps, run.name, console, workers=cores
        )
    return summary


def _differences(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    return [
        f"{name} was {then.get(name)}, is {now[name]}"
        for name in now
        if then.get(name) != now[name]
    ]
