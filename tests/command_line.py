"""Whether a command can be typed: its options, arguments and settings, not run."""

from __future__ import annotations

import re
from functools import cache

import click
import typer

from fedsemi.cli import app
from fedsemi.config.described import (
    learner_settings,
    method_settings_of,
    sections,
)
from fedsemi.methods import METHODS

COMMANDS = typer.main.get_command(app).commands
_ANY_COMMAND = ("--help", "--version", "--debug", "--show-completion")


def fault(words: list[str]) -> str | None:
    """Say what is wrong with the words after `fedsemi`, if something is."""
    words = words[1:] if words[:1] == ["--debug"] else words
    if not words or words[0] in _ANY_COMMAND:
        return None
    if words[0] not in COMMANDS:
        return f"no command {words[0]}"
    if "--help" in words:
        return None
    try:
        return _parsed(COMMANDS[words[0]].real, words)
    except click.UsageError as error:
        return error.format_message()


def _parsed(command: click.Command, words: list[str]) -> str | None:
    """Parse as click does, but let files be missing, and what callbacks ask for."""
    context = click.Context(command, info_name=words[0])
    parser = command.make_parser(context)
    given, rest, _ = parser.parse_args(args=words[1:])
    if rest:
        return f"unexpected {rest}"
    for parameter in command.get_params(context):
        value = given.get(parameter.name)
        empty = value is None or value == () or str(value).startswith("Sentinel")
        if empty:
            if parameter.required:
                return f"{parameter.name} is missing"
        elif not isinstance(parameter.type, click.Path | click.File):
            parameter.type_cast_value(context, value)
            if "--set" in parameter.opts and (unknown := _unknown_setting(value)):
                return unknown
    return None


def _unknown_setting(given: list[str]) -> str | None:
    for each in given:
        path = re.sub(r"^stages\.\d+\.", "stages.N.", each.split("=")[0])
        if path.startswith("model.") or "=" not in each:  # networks have their own
            continue
        if path not in _settings():
            return f"no setting {path}"
    return None


@cache
def _settings() -> frozenset[str]:
    found = {each.path for _, part in sections() for each in part}
    found |= {name for name, _ in sections()}
    own = [each for m in METHODS.values() for each in method_settings_of(m)]
    own += [each for _, part in learner_settings() for each in part]
    return frozenset(found | {f"stages.N.{each.path}" for each in own})
