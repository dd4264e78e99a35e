"""Every setting, by section or method, with type, default and meaning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import astuple
from typing import Annotated

import typer

from fedsemi.cli.methods import settings_table
from fedsemi.config.described import (
    Described,
    learner_settings,
    method_settings_of,
    sections,
)
from fedsemi.errors import ConfigError, nearest
from fedsemi.methods import METHODS
from fedsemi.text.screen import Screen

Chapter = tuple[str, list[Described]]


def settings(
    name: Annotated[
        str | None,
        typer.Argument(help="A section, method, learner, or part of a name."),
    ] = None,
) -> None:
    """Print every setting with its type, default and meaning, or those of one section.

    Example: fedsemi settings partition; fedsemi settings semianagg; fedsemi settings lr
    """
    console = Screen()
    for title, found in _chosen(name):
        console.print(settings_table(title, map(astuple, found)))


def _chapters() -> Iterator[Chapter]:
    for section, found in sections():
        yield (f"[{section}]" if section else "top of the config"), found
    for learner, found in learner_settings():
        yield _learner(learner), found


def _learner(name: str) -> str:
    return f'learner = {{ name = "{name}" }}'


def _chosen(name: str | None) -> list[Chapter]:
    chapters = list(_chapters())
    if name is None:
        return chapters
    if name in [*METHODS] or ":" in name:
        return [(f'[[stages]] method = "{name}"', method_settings_of(METHODS[name]))]
    titles = f"[{name}]", _learner(name), name
    fitting = [each for each in chapters if each[0].startswith(titles)]
    return fitting or _searched(name, chapters)


def _searched(name: str, chapters: Iterable[Chapter]) -> list[Chapter]:
    """Find settings by a part of their name or of their meaning."""
    hits = [(title, [s for s in found if s.fits(name)]) for title, found in chapters]
    hits = [(title, found) for title, found in hits if found]
    if not hits:
        known = [title.strip("[]") for title, _ in chapters if title.startswith("[")]
        known += [learner for learner, _ in learner_settings()]
        raise ConfigError(
            f"no section, method or setting is called '{name}'"
            f"{nearest(name, [*known, *METHODS])}; `fedsemi settings` prints all",
            code="FS4104",
        )
    return hits
