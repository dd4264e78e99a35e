"""Compare methods on somebody's own config: only the last stage differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedsemi.client.evaluate import MAIN_SCORES
from fedsemi.config.experiment import Experiment, load_config, make_experiment
from fedsemi.config.explain import known
from fedsemi.data.arrays import ARRAYS
from fedsemi.errors import ConfigError
from fedsemi.evidence.catalogue import Artifact, Cell, Chart, Setting
from fedsemi.methods import METHODS

BOUNDS = ("warm-up", "lower", "upper")
"""Rows that are no methods: labels alone, and all labels."""


@dataclass(frozen=True)
class OwnConfig:
    """A config whose last stage is given to one method after the other."""

    name: str
    base: Experiment

    @property
    def lower_bound(self) -> str:
        """The model at the end of the warm-up, as in the paper, if there is one."""
        return "warm-up" if len(self.base.stages) > 1 else "lower"

    def experiment(self, setting: Setting, seed: int) -> Experiment:
        """Write the config of a method."""
        content = self.base.model_dump(mode="json") | {"seed": seed}
        content["stages"] = _stages(content["stages"], setting.arm)
        partition = content["partition"]
        if setting.arm == "upper":
            partition |= {"labeled_clients": "all", "labeled_fraction": None}
        arrays = self.base.data.name == ARRAYS
        drawn = partition["seed"] is None and partition["file"] is None
        fixed = arrays or not drawn
        same_draw = fixed or seed == self.base.seed
        if setting.arm == "upper" or not same_draw:
            partition["sha256"] = None  # it is that of the config as it stands
        return make_experiment(content)

    def prelude(self, setting: Setting, seed: int) -> None:
        """Nothing: a config has all its stages."""


def read_own(path: Path, overrides: Sequence[str]) -> OwnConfig:
    """Read a config to compare methods on."""
    base = load_config(path, overrides)
    if base.sites is not None:
        raise ConfigError(
            "compare needs a simulation: real sites have no upper bound and no second "
            "seed; use `fedsemi run` and `fedsemi diff`",
            code="FS4107",
        )
    return OwnConfig(path.stem, base)


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
    settings = tuple(Setting(own.base.data.name, method) for method in rows)
    cells = [Cell(s.arm, s, metric) for metric in MAIN_SCORES for s in settings]
    charts = [
        Chart("curves", m.replace("_", " "), settings, m) for m in MAIN_SCORES[:2]
    ]
    tests = tuple(each for each in settings if each.arm == "semianagg")
    title = f"{', '.join(rows)} on {own.name}"
    return Artifact("compare", title, tuple(cells), tuple(charts), tests=tests)


def _stages(stages: Sequence[Mapping[str, Any]], method: str) -> list[dict[str, Any]]:
    """Give the last stage to a method, with those settings that it knows as well."""
    *before, last = [dict(stage) for stage in stages]
    if method == "warm-up":
        return before
    if method in BOUNDS:
        rounds = sum(stage["rounds"] for stage in stages)
        return [{"method": "supervised", "rounds": rounds, "local": last["local"]}]
    names = {field.name for field in METHODS[method].settings()}
    shared = {"rounds", "local", *(names if last["method"] != method else last)}
    kept = {key: value for key, value in last.items() if key in shared}
    return [*before, {**kept, "method": method}]
