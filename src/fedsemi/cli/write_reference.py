"""Write reference.json from the package: `make reference`, about 20 seconds."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from fedsemi.cli.commands import PANELS
from fedsemi.cli.late import Late
from fedsemi.cli.reference import (
    FILE,
    KnownMethod,
    Parameter,
    Reference,
    Setting,
)
from fedsemi.config.described import Described, method_settings_of, sections
from fedsemi.config.files import CONFIGS, read_config_file
from fedsemi.data.datasets import DATASETS
from fedsemi.method import Method
from fedsemi.methods import METHODS
from fedsemi.models import MODELS
from fedsemi.simulation.ledger import Ledger, measure


def made(methods: Iterable[KnownMethod]) -> Reference:
    """Ask the package for all that a reference holds beside the methods."""
    return Reference(
        methods=tuple(methods),
        settings=_settings(s for _, found in sections() for s in found),
        datasets=tuple(DATASETS.own),
        models=tuple(MODELS.own),
        commands=_commands(),
    )


def text_of(found: Reference) -> str:
    """Write a reference with a line for each thing, so that a change is a line."""
    content = asdict(found)
    parts = []
    for key, value in content.items():
        if isinstance(value, dict):
            rows = [f"{json.dumps(name)}: {_line(own)}" for name, own in value.items()]
            parts.append(f'"{key}": {{\n{_joined(rows)}\n}}')
        else:
            parts.append(f'"{key}": [\n{_joined(map(_line, value))}\n]')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def known_method(name: str, sends: str, round: str) -> KnownMethod:
    """Describe a method; what it sends is told."""
    method: type[Method[Any]] = METHODS[name]
    origin = method.provenance
    return KnownMethod(
        name=name,
        what=(inspect.getdoc(method) or "").split("\n")[0],
        paper=origin.reference,
        note=origin.note,
        cards=", ".join(method.cards),
        learner=origin.learner,
        aggregation=origin.aggregation,
        sends=sends,
        round=round,
        config=_config(name),
        settings=_settings(method_settings_of(method)),
    )


def measured(name: str) -> KnownMethod:
    """Describe a method after two rounds of it, whose messages are counted."""
    # Unlabeled clients join FedIRM late; what they send then is of interest.
    settings = {"unlabeled_after": 0} if name == "fedirm" else {}
    ledger = measure(name, **settings)
    return known_method(name, sent(ledger), total(ledger))


def sent(ledger: Ledger) -> str:
    """Name the fields of an update with their bytes; the model is M."""
    rest = [f"{name} {shown(b)}" for name, b in ledger.fields.items()]
    return ", ".join(["M", *rest[1:]])


def total(ledger: Ledger) -> str:
    """Say what a round costs, in models and in bytes beside them."""
    return f"{ledger.transfers} M + {shown(ledger.beside)}"


def shown(num_bytes: int) -> str:
    """Write a number of bytes in a readable unit.

    >>> shown(24), shown(32768), shown(33_000_000)
    ('24 B', '33 kB', '33 MB')
    """
    for size, unit in ((1_000_000, "MB"), (1_000, "kB")):
        if num_bytes >= size:
            return f"{num_bytes / size:.0f} {unit}"
    return f"{num_bytes} B"


def _config(method: str) -> str:
    """Choose the shipped config to start from: of the smallest data, by its end."""
    fitting = []
    for path in CONFIGS.rglob("*.toml"):
        stages = [stage["method"] for stage in read_config_file(path)["stages"]]
        if method in stages:
            name = path.relative_to(CONFIGS).with_suffix("").as_posix()
            folders = ("svhn", "isic18", "cifar100", "cifar100-lt")
            folder = name.split("/")[0]
            place = folders.index(folder) if folder in folders else len(folders)
            named = not name.endswith(f"/{method}")
            fitting.append((stages[-1] != method, named, place, len(name), name))
    return min(fitting)[-1] if fitting else ""


def _settings(found: Iterable[Described]) -> tuple[Setting, ...]:
    return tuple(Setting(s.path, s.kind, s.default, s.meaning) for s in found)


def _commands() -> dict[str, tuple[Parameter, ...]]:
    return {
        entry.name: tuple(_parameter(each) for each in Late(entry, panel).real.params)
        for panel, entries in PANELS.items()
        for entry in entries
    }


def _parameter(found: click.Parameter) -> Parameter:
    is_option = isinstance(found, click.Option)
    choices = found.type.choices if isinstance(found.type, click.Choice) else ()
    return Parameter(
        name=found.name or "",
        options=tuple([*found.opts, *found.secondary_opts] if is_option else ()),
        flag=bool(getattr(found, "is_flag", False)),
        many=found.multiple or found.nargs < 0,
        choices=tuple(str(getattr(each, "value", each)) for each in choices),
        help=getattr(found, "help", None) or "",
    )


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _joined(rows: Iterable[str]) -> str:
    return ",\n".join(rows)


if __name__ == "__main__":
    Path(FILE).write_text(text_of(made(map(measured, METHODS.own))), "utf-8")
