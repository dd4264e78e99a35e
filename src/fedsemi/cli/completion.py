"""What a shell offers after the tabulator key, from reference.json and the disk.

A shell waits for the answer, so nothing heavy is imported: a command is completed by a
sketch of it, which has its options and arguments and cannot be run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from fedsemi.cli.reference import Parameter, Setting, reference
from fedsemi.config.files import CONFIGS, find_config, read_config_file
from fedsemi.errors import FedSemiError

Offer = tuple[str, str]
"""A word and what it means."""
Completer = Callable[[click.Context, str], Iterable[Offer]]

_MOST_FOLDERS = 500
"""Folders that are looked into for runs, so that a large disk delays nobody."""


def sketch(command: str) -> click.Command:
    """Return a command with the parameters of the real one."""
    found = [_parameter(command, each) for each in reference().commands[command]]
    return click.Command(command, params=found)


def _parameter(command: str, known: Parameter) -> click.Parameter:
    completer = COMPLETERS.get(f"{command} {known.name}") or COMPLETERS.get(known.name)
    settings: dict[str, Any] = (
        {"shell_complete": _shown(completer)} if completer else {}
    )
    if known.choices:
        settings["type"] = click.Choice(known.choices)
    if not known.options:
        nargs = -1 if known.many else 1
        return click.Argument([known.name], nargs=nargs, required=False, **settings)
    return click.Option(
        [known.name, *known.options],
        is_flag=known.flag,
        multiple=known.many,
        help=known.help,
        **settings,
    )


def _shown(
    completer: Completer,
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    def complete(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [
            CompletionItem(word, help=meaning or None)
            for word, meaning in completer(ctx, incomplete)
            # A name that breaks a line would be two offers.
            if word.startswith(incomplete) and word.isprintable()
        ]

    return complete


def _configs(ctx: click.Context, incomplete: str) -> Iterator[Offer]:
    """Offer shipped configs, and files in the folder that is being typed."""
    yield from _shipped(ctx, incomplete)
    folder = os.path.dirname(incomplete)
    for path in sorted(Path(folder).glob("*.toml")):
        yield os.path.join(folder, path.name), "a file"


def _shipped(ctx: click.Context, incomplete: str) -> Iterator[Offer]:
    for path in sorted(CONFIGS.rglob("*.toml")):
        yield path.relative_to(CONFIGS).with_suffix("").as_posix(), "shipped"


def _runs(ctx: click.Context, incomplete: str) -> Iterator[Offer]:
    """Offer folders of runs below what is being typed, or below runs."""
    folder = os.path.dirname(incomplete) or ("" if incomplete else "runs")
    if incomplete and not folder and "runs".startswith(incomplete):
        folder = "runs"
    level = [folder or "."]
    looked = 0
    for _ in range(3):
        deeper = []
        for place in level:
            looked += 1
            if looked > _MOST_FOLDERS:
                return
            for name in _folders(place):
                inner = name if place == "." else os.path.join(place, name)
                deeper.append(inner)
                if os.path.isfile(os.path.join(inner, "config.json")):
                    yield inner, "a run"
        level = deeper


def _folders(place: str) -> list[str]:
    try:
        with os.scandir(place) as entries:
            return sorted(
                each.name
                for each in entries
                if each.is_dir() and not each.name.startswith(".")
            )
    except OSError:
        return []


def _methods(ctx: click.Context, incomplete: str) -> Iterator[Offer]:
    for method in reference().methods:
        yield method.name, method.what


def _several_methods(ctx: click.Context, incomplete: str) -> Iterator[Offer]:
    """Offer the last of several methods, written with commas."""
    before, comma, _ = incomplete.rpartition(",")
    for name, what in _methods(ctx, incomplete):
        yield f"{before}{comma}{name}", what


def _datasets(ctx: click.Context, incomplete: str) -> Iterator[Offer]:
    words = [*(ctx.params.get("words") or ()), *ctx.args]
    if not words:
        yield "get", "download one"
    for name in reference().datasets:
        yield name, "a data set"


def _topics(ctx: click.Context, incomplete: str) -> Iterator[Offer]:
    """Offer what `fedsemi settings` takes: sections and methods."""
    sections = {path.split(".")[0] for path, *_ in reference().settings if "." in path}
    for name in (*sorted(sections), "learner"):
        yield name, "a section"
    yield from _methods(ctx, incomplete)


def _overrides(ctx: click.Context, incomplete: str) -> Iterator[Offer]:
    """Offer names of settings; after the equals sign, values that are known."""
    settings = _settings_for(ctx)
    name, equals, _ = incomplete.partition("=")
    if not equals:
        for setting in settings:
            yield f"{setting.path}=", setting.meaning
        return
    for setting in settings:
        if setting.path == name:
            for value in _values(setting):
                yield f"{name}={value}", ""


def _values(setting: Setting) -> list[str]:
    if setting.path == "data.name":
        return list(reference().datasets)
    if setting.path == "model.name":
        return list(reference().models)
    if re.fullmatch(r"stages\.\d+\.method", setting.path):
        return [method.name for method in reference().methods]
    if setting.kind == "true or false":
        return ["true", "false"]
    return re.findall(r'"([^"]+)"', setting.kind)


def _settings_for(ctx: click.Context) -> list[Setting]:
    """List all settings, those of stages by the methods of the config."""
    general = [s for s in reference().settings if not s.path.startswith("stages.N.")]
    staged = [s for s in reference().settings if s.path.startswith("stages.N.")]
    for number, method in enumerate(_stages(ctx)):
        known = reference().method(method)
        place = f"stages.{number}"
        general += [s._replace(path=s.path.replace("stages.N", place)) for s in staged]
        own = known.settings if known else ()
        general += [s._replace(path=f"{place}.{s.path}") for s in own]
    return general


def _stages(ctx: click.Context) -> list[str]:
    # The shell asks in the middle of an option, where the parser has not come to
    # arguments yet: they are what is left over.
    config = ctx.params.get("config") or next(iter(ctx.args), None)
    if config is None:
        return ["", ""]
    try:
        stages = read_config_file(find_config(Path(str(config))))["stages"]
        return [str(stage["method"]) for stage in stages]
    except (FedSemiError, KeyError, TypeError):
        return ["", ""]


COMPLETERS: dict[str, Completer] = {
    "config": _configs,
    "overrides": _overrides,
    "run": _runs,
    "runs": _runs,
    "a": _runs,
    "b": _runs,
    "resume": _runs,
    "model": _runs,
    "methods": _several_methods,
    "methods name": _methods,
    "settings name": _topics,
    "configs name": _shipped,
    "datasets words": _datasets,
}
"""By the name of a parameter, with its command before it where that matters."""
