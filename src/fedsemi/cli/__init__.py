"""The command line. Each group of commands is a module; errors are one line here."""

from __future__ import annotations

import os
import sys
import traceback
from importlib.metadata import version
from typing import Annotated

import typer
from click.exceptions import Abort, NoArgsIsHelpError, UsageError

from fedsemi.cli.late import LateGroup
from fedsemi.errors import (
    ConfigError,
    FedSemiError,
    Interrupted,
    OutOfMemory,
    lacks_memory,
)
from fedsemi.text.screen import say

app = typer.Typer(
    name="fedsemi",
    cls=LateGroup,
    no_args_is_help=True,
    suggest_commands=False,  # click does it, too
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help=(
        "Train one image classifier over many sites of which most have no labels.\n\n"
        "Begin with `fedsemi demo`; then look at `fedsemi configs` and "
        "`fedsemi run CONFIG`."
    ),
)
_CTRL_C = 130
"""What typer makes of an interruption that nobody has taken care of."""


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"fedsemi {version('fedsemi')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True)
    ] = False,
    debug: Annotated[
        bool,
        typer.Option(
            "--debug", envvar="FEDSEMI_DEBUG", help="Show where an error came from."
        ),
    ] = False,
) -> None:
    """Federated semi-supervised learning."""


def main() -> None:
    """Run the command line; a user's mistake gives one line and an exit code."""
    try:
        # Mistakes in the command line itself come as exceptions, too.
        code = app(prog_name="fedsemi", standalone_mode=False)
        if code == _CTRL_C:
            raise Interrupted("stopped")
        sys.exit(code)
    except NoArgsIsHelpError as error:
        error.show()
        sys.exit(ConfigError.exit_code)
    except Exception as error:
        if "--debug" in sys.argv or os.environ.get("FEDSEMI_DEBUG"):
            # Marked, so that a line break in the error's text forges no line.
            for line in traceback.format_exc().rstrip("\n").split("\n"):
                say(f"| {line}", err=True)
        named = _named(error)
        say(f"fedsemi: {named}", err=True)
        sys.exit(named.exit_code)


def _named(error: Exception) -> FedSemiError:
    """Give what fedsemi did not raise on purpose a code and a remedy."""
    if isinstance(error, FedSemiError):
        return error
    if isinstance(error, UsageError):
        command = error.ctx.command_path if error.ctx else "fedsemi"
        said = error.format_message().rstrip(".")
        return ConfigError(f"{said}; see `{command} --help`", code="FS4112")
    if isinstance(error, Abort):
        return Interrupted("stopped", code="FS1002")
    if lacks_memory(error):
        return OutOfMemory("there is no memory left; use fewer or smaller images")
    if isinstance(error, ModuleNotFoundError) and _of_flower(error.name or ""):
        return _without_flower()
    return FedSemiError(
        f"a bug: {type(error).__name__}: {error}; run `fedsemi --debug …` again and "
        "report what it shows"
    )


def _of_flower(module: str) -> bool:
    """Say whether a module comes with Flower alone."""
    return module.split(".")[0] in ("flwr", "starlette", "uvicorn")


def _without_flower() -> FedSemiError:
    """Say whether Flower is missing, or is another one."""
    from fedsemi.deployment.flower_names import check_flower, missing_flower

    try:
        check_flower()
    except FedSemiError as found:
        return found
    return missing_flower()
