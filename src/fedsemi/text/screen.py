"""What a person reads: lines on a terminal or in a log, whoever named the things."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from fedsemi.text.printable import printable

LINE = 10_000
"""The most characters of a line or a cell."""


class Screen(Console):
    """A console that shows a str as it stands, in one line.

    Brackets are no markup, colons no pictures, and what commands a terminal is spelled.
    So a name may go into any line or cell; a style, or a line break on purpose, needs a
    `rich.text.Text`, which holds names only if they are `printable`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Make the Text that stands for a str, wherever it is printed."""
        return super().render_str(printable(text, LINE), **options)


def warn(console: Console, lines: Iterable[str]) -> None:
    """Print warnings, a line each, the word in yellow."""
    for line in lines:
        tell(console, Text.assemble(("warning", "yellow"), f" {printable(line, LINE)}"))


def tell(console: Console, line: str | Text) -> None:
    """Print a long line; a terminal breaks it between words.

    One with a command stays whole, so that it can be copied, and so does any in a file.
    """
    whole = not console.is_terminal or "`" in str(line)
    console.print(line, soft_wrap=whole, highlight=False)


def say(line: str, *, err: bool = False) -> None:
    """Print one plain line at once."""
    typer.echo(printable(line, LINE), err=err)
