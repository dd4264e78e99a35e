"""Train: from sites, from a config, or on from where a run was stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from fedsemi.api.display import display_for, screen
from fedsemi.api.handle import Run
from fedsemi.api.settings import (
    AnyModel,
    AnyStage,
    experiment_of,
    model_section,
    stage_section,
)
from fedsemi.api.sites import Sites
from fedsemi.config.experiment import Experiment, load_config, make_experiment
from fedsemi.config.files import apply_override
from fedsemi.data.arrays import ARRAYS
from fedsemi.errors import CannotCreate
from fedsemi.report.analysis import federation_gaps
from fedsemi.report.companion import sentence_of
from fedsemi.report.run import read_run
from fedsemi.runs.folder import RunFolder
from fedsemi.simulation.build import Simulation, build
from fedsemi.simulation.run import run_simulation
from fedsemi.text.printable import printable
from fedsemi.text.screen import tell, warn
from fedsemi.use.resuming import (
    config_of,
    refuse_coordinators_run,
    refuse_flower_run,
    take_beginning_for_granted,
)
from fedsemi.use.session import available_cores, record_run

AnyPath = str | PathLike[str]

STAGES: tuple[AnyStage, ...] = (("supervised", 40), ("semianagg", 40))
"""First the labeled sites learn alone, then all of them together."""


def simulate(
    sites: Sites,
    *,
    model: AnyModel = "resnet8",
    stages: Sequence[AnyStage] = STAGES,
    seed: int = 1,
    workers: int = 0,
    out: AnyPath | None = None,
    overwrite: bool = False,
    progress: bool = True,
    checkpoint_every: int = 1,
    **settings: Any,
) -> Run:
    """Train one model over sites that are simulated on this machine.

    Ctrl-C stops after the round that is on; `fedsemi.resume` goes on to the same bits.

    Args:
        sites: Made by one of the `sites_from` functions.
        model: The name of a network, or a class or function that makes one.
        stages: One after the other: (method, rounds), (method, rounds, settings) or a
            dict. A method is a name or a class of your own.
        seed: Everything random in the run derives from it.
        workers: Worker processes; 0 for one per core. Changes no bit of a result.
        out: Folder of the run; left out, a new one below `runs`.
        overwrite: Whether another run in that folder may be replaced.
        progress: Whether to show how far it is.
        checkpoint_every: Save after every n-th round.
        settings: Other settings of a config, e.g. `local={"batch_size": 32}`,
            `evaluation={"every": 5}`, `device="cuda"`.
    """
    experiment = experiment_of(sites, model, stages, seed, settings)
    folder = _folder(out, experiment.stages[-1].method)
    simulation = sites.simulation(experiment)
    remedy = _remedy(folder, experiment)
    with _begun(folder, simulation, overwrite, remedy) as begun:
        _record(begun, simulation, workers, progress, checkpoint_every)
    return Run(folder)


def run(
    config: AnyPath | Mapping[str, Any],
    overrides: Sequence[str] = (),
    *,
    workers: int = 0,
    out: AnyPath | None = None,
    overwrite: bool = False,
    progress: bool = True,
    checkpoint_every: int = 1,
    data_dir: AnyPath | None = None,
) -> Run:
    """Run a config, as `fedsemi run` does.

    Args:
        config: A TOML file, the name of a shipped one ("digits"), or its content as a
            dict, in which a method or a network may be a class.
        overrides: As after `--set`: "stages.1.rounds=10".
        workers: Worker processes; 0 for one per core. Changes no bit of a result.
        out: Folder of the run; left out, a new one below `runs`.
        overwrite: Whether another run in that folder may be replaced.
        progress: Whether to show how far it is.
        checkpoint_every: Save after every n-th round.
        data_dir: The folder of the data sets, instead of the usual ones.
    """
    experiment, name = read_experiment(config, overrides)
    simulation = build(experiment, None if data_dir is None else Path(data_dir))
    folder = _folder(out, name)
    remedy = _remedy(folder, experiment)
    with _begun(folder, simulation, overwrite, remedy) as begun:
        _record(begun, simulation, workers, progress, checkpoint_every)
    return Run(folder)


def resume(
    folder: AnyPath,
    sites: Sites | None = None,
    overrides: Sequence[str] = (),
    *,
    workers: int = 0,
    progress: bool = True,
    checkpoint_every: int = 1,
    data_dir: AnyPath | None = None,
) -> Run:
    """Go on with a run that was stopped, by whatever it was, to the same bits.

    Args:
        folder: Of the run.
        sites: The same sites again if they were made from arrays or a torch data set;
            a hash tells whether they are the same.
        overrides: More rounds, e.g. "stages.1.rounds=80".
        workers: Worker processes; 0 for one per core. Changes no bit of a result.
        progress: Whether to show how far it is.
        checkpoint_every: Save after every n-th round.
        data_dir: The folder of the data sets, instead of the usual ones.
    """
    place = Path(folder)
    refuse_coordinators_run(place)
    experiment = load_config(config_of(place), overrides)
    if sites is None:
        simulation = build(experiment, None if data_dir is None else Path(data_dir))
    else:
        simulation = sites.simulation(experiment)
    with RunFolder.resume(place, simulation) as found:
        refuse_flower_run(found)
        found.remedy = _remedy(place, experiment)
        take_beginning_for_granted(found)
        _record(found, simulation, workers, progress, checkpoint_every)
    return Run(place)


def read_experiment(
    config: AnyPath | Mapping[str, Any], overrides: Sequence[str]
) -> tuple[Experiment, str]:
    """Read a config, and say what a run of it may be called."""
    if not isinstance(config, Mapping):
        return load_config(Path(config), overrides), Path(config).stem
    content = dict(config)
    if "model" in content:
        content["model"] = model_section(content["model"])
    content["stages"] = [stage_section(stage) for stage in content.get("stages", ())]
    # A copy all the way down, which overrides may change.
    content = json.loads(json.dumps(content, default=str))
    for override in overrides:
        apply_override(content, override)
    experiment = make_experiment(content)
    return experiment, experiment.stages[-1].method


def _record(
    folder: RunFolder,
    simulation: Simulation,
    workers: int,
    progress: bool,
    checkpoint_every: int,
) -> None:
    console, cores = screen(progress), workers or available_cores()
    if folder.start is None:
        warn(console, federation_gaps(simulation).warnings)
    steps = run_simulation(simulation, cores, folder.start)
    record_run(
        folder,
        simulation,
        steps,
        folder.path.name,
        console,
        checkpoint_every,
        cores,
        display_for(console),
    )
    if (sentence := sentence_of(read_run(folder.path))) is not None:
        tell(console, sentence)


def _begun(
    folder: Path, simulation: Simulation, overwrite: bool, remedy: str
) -> RunFolder:
    try:
        begun = RunFolder.new(folder, simulation, overwrite)
    except CannotCreate as error:
        if error.code != "FS1402":
            raise
        raise CannotCreate(
            f"'{folder}' holds a run; look at it with fedsemi.load, go on with "
            "fedsemi.resume, choose another out, or pass overwrite=True",
            code="FS1402",
        ) from None
    begun.remedy = remedy
    return begun


def _folder(out: AnyPath | None, name: str) -> Path:
    """Return the folder of a run; a new one, numbered, if nobody chose."""
    if out is not None:
        return Path(out)
    stem = printable(name.rpartition(":")[2] or "run").replace("/", "-")
    number = 1
    while (folder := Path("runs") / f"{stem}-{number}").exists():
        number += 1
    return folder


def _remedy(folder: Path, experiment: Experiment) -> str:
    """Say how a program goes on with a run that was stopped."""
    sites = ", sites" if experiment.data.name == ARRAYS else ""
    return f"continue with fedsemi.resume({str(folder)!r}{sites})"
