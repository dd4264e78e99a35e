"""Compare methods on somebody's own config: only the last stage differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fedsemi.client.evaluate import MAIN_SCORES
from fedsemi.config.experiment import Experiment, load_config, make_experiment
from fedsemi.config.explain import known
from fedsemi.config.labels_only import labels_only
from fedsemi.data.arrays import ARRAYS
from fedsemi.errors import ConfigError
from fedsemi.evidence.catalogue import Artifact, Cell, Chart, Setting
from fedsemi.evidence.sweep import (
    Point,
    overrides_of,
    point_label,
    points_of,
    read_grid,
)
from fedsemi.methods import METHODS
from fedsemi.text.printable import typed

BOUNDS = ("warm-up", "lower", "upper")
"""Rows that are no methods: labels alone, and all labels."""


@dataclass(frozen=True)
class OwnConfig:
    """A config whose last stage is given to one method after the other."""

    name: str
    base: Experiment
    points: Mapping[Point, Experiment] = field(default_factory=dict)
    """The config at each point of a sweep; empty without one."""
    seeds: int = 0

    @property
    def lower_bound(self) -> str:
        """The model at the end of the warm-up, as in the paper, if there is one."""
        return "warm-up" if len(self.base.stages) > 1 else "lower"

    def experiment(self, setting: Setting, seed: int) -> Experiment:
        """Write the config of a method."""
        base = self.points.get(setting.partition, self.base)
        if setting.arm in ("lower", "upper"):
            base = labels_only(base)
        content = base.model_dump(mode="json") | {"seed": seed}
        content["stages"] = _stages(content["stages"], setting.arm)
        partition = content["partition"]
        if setting.arm == "upper":
            partition |= {"labeled_clients": "all", "labeled_fraction": None}
        arrays = base.data.name == ARRAYS
        drawn = partition["seed"] is None and partition["file"] is None
        fixed = arrays or not drawn
        same_draw = fixed or seed == base.seed
        if setting.arm == "upper" or not same_draw:
            partition["sha256"] = None  # it is that of the config as it stands
        return make_experiment(content)

    def prelude(self, setting: Setting, seed: int) -> None:
        """Nothing: a config has all its stages."""


def read_own(
    path: Path, overrides: Sequence[str], grid: Sequence[str] = ()
) -> OwnConfig:
    """Read a config to compare methods on, at each point of a grid."""
    base = load_config(path, overrides)
    if base.sites is not None:
        raise ConfigError(
            "compare keeps records by config, and images in folders may change without "
            f"it; run each method with `{_one_method(path, base)}`, then `fedsemi run "
            "--labels-only runs/NAME` and `fedsemi diff`",
            code="FS4107",
        )
    points = {
        point: load_config(path, [*overrides, *overrides_of(point)])
        for point in points_of(read_grid(grid))
    }
    return OwnConfig(path.stem, base, points if grid else {})


def _one_method(path: Path, base: Experiment) -> str:
    last = f"stages.{len(base.stages) - 1}.method=NAME"
    return typed("fedsemi", "run", path, "--set", last, "--out", "runs/NAME")


def comparison_of(own: OwnConfig, methods: Sequence[str]) -> Artifact:
    """Make a table with a line for each method, and their curves."""
    for method in methods:
        known("--methods", method, METHODS, *BOUNDS)
    if own.lower_bound == "lower" and "warm-up" in methods:
        raise ConfigError(
            "--methods warm-up: the config has one stage, so there is no warm-up; "
            "'lower' trains on labels alone",
            code="FS4140",
        )
    # The warm-up is trained anyway, so its row costs nothing.
    rows = dict.fromkeys([own.lower_bound, *methods])
    name = own.base.data.name
    settings = tuple(
        Setting(name, method, point) for point in own.points or [()] for method in rows
    )
    cells = tuple(
        Cell(s.arm, s, metric, condition=point_label(s.partition))
        for metric in MAIN_SCORES
        for s in settings
    )
    tests = tuple(each for each in settings if each.arm == "semianagg")
    title = f"{', '.join(rows)} on {own.name}"
    charts = tuple(_charts(own, settings))
    return Artifact("compare", title, cells, charts, tests=tests, own=True)


def _charts(own: OwnConfig, settings: Sequence[Setting]) -> Iterator[Chart]:
    """Draw scores over a sweep, and the curves of each of its points."""
    for metric in MAIN_SCORES[:2]:
        words = metric.replace("_", " ")
        if own.points:
            yield Chart("sweep", words, tuple(settings), metric)
        for point in own.points or [()]:
            here = tuple(each for each in settings if each.partition == point)
            title = f"{words}, {point_label(point)}" if point else words
            yield Chart("curves", title, here, metric, at_point=bool(point))


def _stages(stages: Sequence[Mapping[str, Any]], method: str) -> list[dict[str, Any]]:
    """Give the last stage to a method, with those settings that it knows as well.

    Of bounds, the stages are those of labels alone already.
    """
    *before, last = [dict(stage) for stage in stages]
    if method in BOUNDS:
        return before if method == "warm-up" else [last]
    names = {field.name for field in METHODS[method].settings()}
    shared = {"rounds", "local", *(names if last["method"] != method else last)}
    kept = {key: value for key, value in last.items() if key in shared}
    return [*before, {**kept, "method": method}]
