"""Commands that are imported only when they are used.

torch alone takes a second and a half to import, which nobody should wait for who asks
for help or makes a typing slip.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import click
import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup
from typer.main import get_command
from typer.models import ArgumentInfo
from typer.utils import get_params_from_function

from fedsemi.cli.commands import PANELS, Entry
from fedsemi.text.early_stop import listen_as_usual


def _explain(command: click.Command, function: Callable[..., Any]) -> None:
    """Give arguments the help that they were declared with.

    click from 8.5 on takes away what typer has set by then.
    """
    declared = get_params_from_function(function)
    for param in command.params:
        about = declared[param.name].default if param.name in declared else None
        if isinstance(param, TyperArgument) and isinstance(about, ArgumentInfo):
            param.help = about.help


class Late(TyperCommand):
    """Stands for a command in the help; turns into it once it is called."""

    def __init__(self, entry: Entry, panel: str) -> None:
        super().__init__(entry.name, help=entry.help, rich_help_panel=panel)
        self.entry = entry

    @cached_property
    def real(self) -> click.Command:
        """The command itself, imported now."""
        app = typer.Typer(
            add_completion=False,
            rich_markup_mode="markdown",
            pretty_exceptions_enable=False,
        )
        if not self.entry.parts:
            app.command(self.entry.name)(self.entry.function)
        else:
            app.callback(invoke_without_command=True)(self.entry.function)
            for part in self.entry.parts:
                app.command(part.name)(part.function)
        listen_as_usual()
        command = get_command(app)
        _explain(command, self.entry.function)
        if isinstance(command, click.Group):
            for part in self.entry.parts:
                _explain(command.commands[part.name], part.function)
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> click.Context:
        """Go on as the real command, or as its sketch while a shell completes."""
        if extra.get("resilient_parsing"):
            from fedsemi.cli.completion import sketch

            return sketch(self.entry.name).make_context(
                info_name, args, parent, **extra
            )
        return self.real.make_context(info_name, args, parent, **extra)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """List the real command's parameters, for shell completion."""
        return self.real.get_params(ctx)


class LateGroup(TyperGroup):
    """A group that knows its commands without having imported them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for panel, entries in PANELS.items():
            for entry in entries:
                self.add_command(Late(entry, panel))
