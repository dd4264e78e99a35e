"""What there is, by heart: methods with what they send, settings, options, data sets.

Asking the package itself means importing torch, and what a method sends is measured by
training it. So all of this stands in reference.json, which `make reference` writes;
tests compare it with the package.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).with_suffix(".json")


class Setting(NamedTuple):
    """One setting in words."""

    path: str
    kind: str
    default: str
    meaning: str


class Parameter(NamedTuple):
    """An argument of a command, or an option."""

    name: str
    options: tuple[str, ...]
    """How it is written; nothing for an argument."""
    flag: bool
    many: bool
    choices: tuple[str, ...]
    help: str


@dataclass(frozen=True)
class KnownMethod:
    """A method that comes with fedsemi, as `fedsemi methods` shows it."""

    name: str
    what: str
    paper: str
    note: str
    cards: str
    """Settings of the field that it is made for, the main one first."""
    learner: str
    aggregation: str
    sends: str
    """What a site sends in a round; M is the model."""
    round: str
    """All traffic of a round with ten sites."""
    config: str
    """The shipped config to start from; empty if none has the method."""
    settings: tuple[Setting, ...]


@dataclass(frozen=True)
class Reference:
    """The whole file."""

    methods: tuple[KnownMethod, ...]
    settings: tuple[Setting, ...]
    datasets: tuple[str, ...]
    models: tuple[str, ...]
    commands: dict[str, tuple[Parameter, ...]]

    def method(self, name: str) -> KnownMethod | None:
        """Return a method by its name."""
        return next((each for each in self.methods if each.name == name), None)


@cache
def reference() -> Reference:
    """Read the file."""
    content = json.loads(FILE.read_text("utf-8"))
    methods = (
        KnownMethod(**{**each, "settings": _settings(each["settings"])})
        for each in content["methods"]
    )
    return Reference(
        methods=tuple(methods),
        settings=_settings(content["settings"]),
        datasets=tuple(content["datasets"]),
        models=tuple(content["models"]),
        commands={
            name: tuple(_parameter(each) for each in parameters)
            for name, parameters in content["commands"].items()
        },
    )


def _settings(rows: list[list[str]]) -> tuple[Setting, ...]:
    return tuple(Setting(*row) for row in rows)


def _parameter(row: list[Any]) -> Parameter:
    name, options, flag, many, choices, help = row
    return Parameter(name, tuple(options), flag, many, tuple(choices), help)
