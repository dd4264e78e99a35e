"""The arms of a comparison: a method each, or a whole config."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeAlias

from fedsemi.api.settings import AnyMethod, method_name, plain
from fedsemi.api.training import read_experiment
from fedsemi.config.experiment import Experiment, make_experiment
from fedsemi.config.explain import known
from fedsemi.data.arrays import ARRAYS
from fedsemi.errors import ConfigError
from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.compare import BOUNDS, OwnConfig
from fedsemi.evidence.sweep import Point, at_point, overrides_of, points_of
from fedsemi.methods import METHODS

Arm: TypeAlias = (
    AnyMethod | tuple[AnyMethod, Mapping[str, Any]] | Mapping[str, Any] | PathLike[str]
)
"""A method, a method with settings of its own, or a whole config."""

_NAME = "compare"
_Maker: TypeAlias = Callable[[int], Experiment]


@dataclass(frozen=True)
class Arms:
    """Writes the experiment of an arm and a seed: the `Source` of a plan."""

    made: Mapping[tuple[str, Point], _Maker]
    """What writes an arm's experiment for a seed, by its name and its point of a grid;
    the arms of a point stand together."""
    name: str = _NAME
    lower_bound: str = "lower"
    seeds: int = 0

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The arms, in order."""
        return tuple(Setting(self.name, arm, point) for arm, point in self.made)

    @property
    def device(self) -> str:
        """Where the first arm computes; a plan knows one place only."""
        return next(iter(self.made.values()))(1).device

    def experiment(self, setting: Setting, seed: int) -> Experiment:
        """Write the config of an arm."""
        return self.made[setting.arm, setting.partition](seed)

    def prelude(self, setting: Setting, seed: int) -> None:
        """Nothing: an arm has all its stages."""


def arms_of(
    arms: Sequence[Arm],
    base: Experiment | None,
    grid: Mapping[str, Sequence[Any]] | None = None,
) -> Arms:
    """Name the arms; methods are put into the last stage of a base.

    With a grid, each arm is there at each of its points.
    """
    made: dict[tuple[str, Point], _Maker] = {}
    for point in points_of(grid or {}):
        there = None if base is None else at_point(base, point)
        for arm in arms:
            config = _is_config(arm)
            name, maker = _config(arm, point) if config else _method(arm, there)
            if (name, point) in made:
                raise ConfigError(
                    f"'{name}' is there twice; leave one out", code="FS4102"
                )
            made[name, point] = maker
    if not made:
        raise ConfigError("there is nothing to compare", code="FS4102")
    return Arms(made)


def _is_config(arm: Any) -> bool:
    file = isinstance(arm, str) and arm.endswith(".toml")
    return file or isinstance(arm, Mapping | PathLike)


def _config(arm: Any, point: Point) -> tuple[str, _Maker]:
    experiment, name = read_experiment(arm, overrides_of(point))

    def made(seed: int) -> Experiment:
        return make_experiment(experiment.model_dump(mode="json") | {"seed": seed})

    return name, made


def _method(arm: Any, base: Experiment | None) -> tuple[str, _Maker]:
    chosen, settings = arm if isinstance(arm, tuple) else (arm, {})
    method = method_name(chosen)
    if base is None:
        raise ConfigError(
            f"on what shall '{method}' be compared? Give sites or a config",
            code="FS4107",
        )
    known("compare", method, METHODS, *BOUNDS)
    if method == "upper" and (base.sites or base.data.name == ARRAYS):
        raise ConfigError(
            "the labels of these sites' unlabeled images are not known, so there is "
            "no upper bound; leave 'upper' out",
            code="FS4107",
        )
    own, setting = OwnConfig(_NAME, base), Setting(_NAME, method)

    def made(seed: int) -> Experiment:
        content = own.experiment(setting, seed).model_dump(mode="json")
        content["stages"][-1] |= {key: plain(value) for key, value in settings.items()}
        return make_experiment(content)

    return _shown(method, settings), made


def _shown(method: str, settings: Mapping[str, Any]) -> str:
    more = " ".join(f"{key}={value}" for key, value in settings.items())
    return f"{method} {more}".strip()
