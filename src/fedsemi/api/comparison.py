"""Compare methods, or whole configs, over several seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from fedsemi.api.arms import Arm, Arms, arms_of
from fedsemi.api.display import screen
from fedsemi.api.settings import AnyModel, AnyStage, experiment_of
from fedsemi.api.sites import Sites
from fedsemi.api.tables import Table, table
from fedsemi.api.training import STAGES, AnyPath, read_experiment
from fedsemi.client.evaluate import Score
from fedsemi.config.experiment import Experiment
from fedsemi.errors import ConfigError
from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.helping import sentences
from fedsemi.evidence.jobs import Job, make_plan
from fedsemi.evidence.records import Record, read_records, score
from fedsemi.evidence.results import SAME, Evidence
from fedsemi.evidence.runner import Runner
from fedsemi.evidence.stats import Paired, paired, spread
from fedsemi.evidence.sweep import Point, point_label
from fedsemi.simulation.build import Simulation, build
from fedsemi.text.screen import tell
from fedsemi.use.progress import duration
from fedsemi.use.session import available_cores

On: TypeAlias = Sites | Mapping[str, Any] | str | PathLike[str]
"""Sites, or a config that names its data: a path, a shipped name, or a dict."""

Build: TypeAlias = Callable[[Experiment, Path | None], Simulation]

_HELD_OUT = {
    f"held_out_{name}": f"held_out.{name}" for name in ("accuracy", "balanced_accuracy")
}
"""Columns of what labeled sites hold out, if they do: to choose by, not by tests."""


def compare(
    arms: Sequence[Arm],
    on: On | None = None,
    *,
    seeds: int = 3,
    grid: Mapping[str, Sequence[Any]] | None = None,
    model: AnyModel = "resnet8",
    stages: Sequence[AnyStage] = STAGES,
    workers: int = 0,
    out: AnyPath = "results/compare",
    progress: bool = True,
    data_dir: AnyPath | None = None,
    **settings: Any,
) -> Table:
    """Run methods with several seeds; return a row for each, tested against the first.

    A row has mean and standard deviation over the seeds, then the mean difference from
    the first row with its 95 % interval, p-values of the paired t and Wilcoxon tests,
    and a verdict. The score of a run is the mean of its last five tests, from 0 to 1.
    With `evaluation={"validation_fraction": ...}` a row also has the scores on labels
    that labeled sites held out, by which settings can be chosen instead of by tests.
    Ctrl-C stops; the same call goes on, for what has a record in `out` is not run
    again.

    Args:
        arms: Methods, each of which takes over the last stage: a name, a class, or
            either with a dict of settings; "warm-up", "lower" and "upper" are bounds.
            Or whole configs: dicts or paths, which bring their own data.
        on: What methods are compared on: sites or a config. Nothing for configs.
        seeds: How many; they count from 1.
        grid: Values of settings, all combinations of which are compared, e.g.
            `{"partition.dirichlet_alpha": [0.1, 2]}`; each is a column of the table,
            and rows are tested against the first with the same values.
        model: The network, on sites.
        stages: The stages, on sites; all methods share those before the last.
        workers: Worker processes; 0 for one per core. Changes no bit of a result.
        out: Folder of the records.
        progress: Whether to tell of each run.
        data_dir: The folder of the data sets, instead of the usual ones.
        settings: Other settings of a config, on sites.
    """
    base = _base(on, model, stages, settings)
    source = arms_of(arms, base, grid)
    runner = Runner(
        make_plan(source.settings, source, max(seeds, 1), Path(out)),
        source.name,
        workers or available_cores(),
        screen(progress),
        None if data_dir is None else Path(data_dir),
        source.device,
        build=_reading(on),
    )
    jobs, todo = len(runner.plan.jobs), len(runner.plan.todo)
    runner.console.print(f"{jobs} runs, {todo} to do", highlight=False)
    runner.run(_telling(runner))
    evidence = Evidence(source, max(seeds, 1), read_records(Path(out)))
    for sentence in sentences(source.settings, evidence):
        tell(runner.console, sentence)
    return table(_rows(source, evidence))


def _base(
    on: On | None,
    model: AnyModel,
    stages: Sequence[AnyStage],
    settings: Mapping[str, Any],
) -> Experiment | None:
    if isinstance(on, Sites):
        return _named_by_images(experiment_of(on, model, stages, 1, settings))
    if settings:
        raise ConfigError(
            f"{', '.join(settings)}: settings go with sites; a config has its own",
            code="FS4102",
        )
    return None if on is None else _named_by_images(read_experiment(on, ())[0])


def _named_by_images(experiment: Experiment) -> Experiment:
    """Let folders be known by what is in them, which may change between two calls."""
    if experiment.sites is None:
        return experiment
    data = {**experiment.data.model_dump(), "sha256": build(experiment).dataset.sha256}
    changed = experiment.data.model_validate(data)
    return experiment.model_copy(update={"data": changed})


def _reading(on: On | None) -> Build:
    """Return what joins an experiment with its images."""

    def read(experiment: Experiment, data_dir: Path | None) -> Simulation:
        return (
            on.simulation(experiment)
            if isinstance(on, Sites)
            else build(experiment, data_dir)
        )

    return read


def _telling(runner: Runner) -> Callable[[Job, Record], None]:
    def told(job: Job, record: Record) -> None:
        done = f"[{len(runner.plan.done)}/{len(runner.plan.jobs)}]"
        runner.console.print(
            f"{done} {_called(job.setting)} seed {job.seed}: accuracy "
            f"{score(record, 'accuracy') or 0.0:.1f} %, {duration(record['seconds'])}",
            soft_wrap=True,
            highlight=False,
        )

    return told


def _rows(source: Arms, evidence: Evidence) -> list[dict[str, Any]]:
    """Lay out what was measured of each arm, and how it differs from the first."""
    firsts: dict[Point, Setting] = {}
    for setting in source.settings:
        firsts.setdefault(setting.partition, setting)
    held_out = [name for name in _HELD_OUT if _any(evidence, source, _HELD_OUT[name])]
    return [
        {"method": setting.arm, **dict(setting.partition)}
        | {"seeds": len(evidence.found(setting))}
        | _spread("accuracy", evidence, setting)
        | _spread("balanced_accuracy", evidence, setting)
        | {name: _mean(_HELD_OUT[name], evidence, setting) for name in held_out}
        | _tested(evidence, setting, firsts[setting.partition])
        for setting in source.settings
    ]


def _any(evidence: Evidence, source: Arms, metric: str) -> bool:
    return any(evidence.scores(setting, metric) for setting in source.settings)


def _mean(metric: str, evidence: Evidence, setting: Setting) -> float | None:
    """Return a mean over all seeds that were run, or nothing."""
    scores = evidence.scores(setting, metric)
    whole = len(scores) == len(evidence.found(setting))
    return _part(spread(list(scores.values())).mean) if whole else None


def _called(setting: Setting) -> str:
    return f"{setting.arm} {point_label(setting.partition)}".strip()


def _spread(metric: Score, evidence: Evidence, setting: Setting) -> dict[str, Any]:
    found = spread(list(evidence.scores(setting, metric).values()))
    return {metric: _part(found.mean), f"{metric}_sd": _part(found.sd)}


def _paired(evidence: Evidence, setting: Setting, first: Setting) -> Paired:
    ours, other = (evidence.scores(each, "accuracy") for each in (setting, first))
    return paired(list(ours.values()), [other[seed] for seed in ours])


def _tested(evidence: Evidence, setting: Setting, first: Setting) -> dict[str, Any]:
    test = None if setting == first else _paired(evidence, setting, first)
    same = test is not None and evidence.same_model(setting, first)
    return {
        "difference": _part(test.mean if test else None),
        "low": _part(test.low if test else None),
        "high": _part(test.high if test else None),
        "p_t": test.p_t if test else None,
        "p_wilcoxon": test.p_wilcoxon if test else None,
        "verdict": SAME if same else test.verdict if test else "",
    }


def _part(percent: float | None) -> float | None:
    return None if percent is None else percent / 100
