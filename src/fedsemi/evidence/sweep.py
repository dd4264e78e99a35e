"""Sweeps: the values that settings take in a comparison, and all their combinations."""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from fedsemi.config.experiment import Experiment, make_experiment
from fedsemi.config.files import apply_override
from fedsemi.errors import ConfigError

Point: TypeAlias = tuple[tuple[str, Any], ...]
"""One value of each setting that is swept."""

_MOST = 1000
"""Combinations; more are a slip of the keyboard."""


def read_grid(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Read what follows each `--grid`: `section.key=value,value`.

    >>> read_grid(["partition.dirichlet_alpha=0.1,2", "local.loss=ce,focal"])
    {'partition.dirichlet_alpha': [0.1, 2], 'local.loss': ['ce', 'focal']}
    """
    found: dict[str, list[Any]] = {}
    for text in texts:
        key, separator, values = text.partition("=")
        if not (key and separator and values):
            raise ConfigError(
                f"--grid '{text}' is not of the form section.key=value,value",
                code="FS4182",
            )
        if key in found:
            raise ConfigError(
                f"--grid names '{key}' twice; give all its values at once",
                code="FS4182",
            )
        found[key] = _values(values)
    return found


def points_of(grid: Mapping[str, Sequence[Any]]) -> list[Point]:
    """Combine the values of all settings; one empty point without any."""
    for key, values in grid.items():
        _check(key, values)
    combined = list(itertools.product(*grid.values()))
    if len(combined) > _MOST:
        raise ConfigError(
            f"the grid has {len(combined):,} combinations, the limit is {_MOST:,}; "
            "sweep fewer values at a time",
            code="FS4182",
        )
    return [tuple(zip(grid, map(_fixed, each), strict=True)) for each in combined]


def overrides_of(point: Point) -> list[str]:
    """Write a point as `--set` would take it."""
    return [f"{key}={json.dumps(value)}" for key, value in point]


def at_point(base: Experiment, point: Point) -> Experiment:
    """Return an experiment with the values of a point; bad ones are refused."""
    if not point:
        return base
    content = base.model_dump(mode="json")
    for override in overrides_of(point):
        apply_override(content, override)
    return make_experiment(content)


def point_label(point: Point) -> str:
    """Name a point shortly.

    >>> point_label((("partition.dirichlet_alpha", 0.1), ("seed", 2)))
    'dirichlet_alpha=0.1, seed=2'
    """
    return ", ".join(f"{key.rpartition('.')[2]}={value}" for key, value in point)


def _values(text: str) -> list[Any]:
    try:
        found: list[Any] = tomllib.loads(f"values = [{text}]")["values"]
    except ValueError:
        return [each.strip() for each in text.split(",")]  # words without quotes
    return found


def _fixed(value: Any) -> Any:
    """Make a value that can name a point."""
    return tuple(map(_fixed, value)) if isinstance(value, list | tuple) else value


def _check(key: str, values: Sequence[Any]) -> None:
    if key == "seed" or key.endswith(".method"):
        other = "seeds" if key == "seed" else "methods"
        raise ConfigError(
            f"a grid does not go over '{key}'; {other} are compared anyway, see "
            f"--{other}",
            code="FS4182",
        )
    bad = [each for each in values if each == "" or isinstance(each, Mapping)]
    if isinstance(values, str) or not values or bad:
        raise ConfigError(f"a grid needs values for '{key}'", code="FS4182")
    again = [each for i, each in enumerate(values) if each in list(values)[:i]]
    if again:
        raise ConfigError(
            f"'{key}' has the value {again[0]} twice in a grid; leave one out",
            code="FS4182",
        )
